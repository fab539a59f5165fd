#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <filesystem>
#include <utility>

#include "profile/cycle_path.h"
#include "xsigma/profiler/session.h"

namespace xsigma::profiler {
namespace {

std::string hostAndProcess() {
  char host[HOST_NAME_MAX + 1] = {};
  if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') return fmt::format("host_{}", getpid());
  return fmt::format("{}_{}", host, getpid());
}

void createFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error && !std::filesystem::is_directory(folder)) {
    throw ProfilerError(
        fmt::format("tensorboardTraceHandler: cannot create the folder '{}': {}. Choose another one", folder, error.message()));
  }
}

}  // namespace

TraceHandler chromeTraceHandler(std::string path) {
  if (path.empty()) throw ProfilerError("chromeTraceHandler: the path is empty. Name a file");
  return [path = std::move(path)](Profile& ready) { ready.exportChromeTrace(profile::cyclePath(path, ready.cycle(), ready.stepNumber())); };
}

TraceHandler tensorboardTraceHandler(std::string folder, std::string worker_name, bool use_gzip) {
  if (folder.empty()) throw ProfilerError("tensorboardTraceHandler: the folder is empty. Name one");
  if (worker_name.find('/') != std::string::npos) {
    throw ProfilerError(fmt::format(
        "tensorboardTraceHandler: the worker's name '{}' has a slash, and is part of a file's name. Use another one", worker_name));
  }
  return [folder = std::move(folder), worker = std::move(worker_name), use_gzip](Profile& ready) {
    createFolder(folder);
    const int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    const std::string name = fmt::format("{}.{}.pt.trace.json{}", worker.empty() ? hostAndProcess() : worker, now, use_gzip ? ".gz" : "");
    ready.exportChromeTrace((std::filesystem::path(folder) / name).string());
  };
}

}  // namespace xsigma::profiler
