#include "backends/cupti/other_tools.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/environment.h"
#include "base/loaded_modules.h"

namespace xsigma::profiler::backends::cupti {
namespace {

struct Tool {
  std::string_view library;  // part of a file's name
  std::string_view name;
};

constexpr Tool kTools[] = {
    {"ToolsInjection", "Nsight Systems"},
    {"nsys", "Nsight Systems"},
    {"InterceptorInjection", "Nsight Compute"},
    {"libcuda-injection", "Nsight Compute"},
    {"sanitizer", "compute-sanitizer"},
    {"libcudadebugger", "cuda-gdb"},
    {"dcgm", "DCGM"},
    {"libkineto", "libkineto"},
    {"libtorch_cpu", "PyTorch's profiler, if it is recording"},
    {"libtensorflow", "TensorFlow's profiler, if it is recording"},
    {"scorep", "Score-P"},
    {"libTAU", "TAU"},
    {"libwprof", "wprof"},
};

void CUPTIAPI ignoreCallback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

std::string nameOfHolder(const CuptiLibrary& cupti) {
  if (cupti.subscribe_v2 == nullptr) return "";
  char name[256] = {};
  SubscriberParams params{sizeof(SubscriberParams), "XSigma Profiler", name, sizeof name - 1};
  CUpti_SubscriberHandle subscriber = nullptr;
  if (cupti.subscribe_v2(&subscriber, &ignoreCallback, nullptr, &params) == CUPTI_SUCCESS)
    cupti.unsubscribe(subscriber);  // he has just left
  return name;
}

// The file that this code is in.
bool isOurOwn(std::string_view path) {
  Dl_info info{};
  std::error_code failed;
  return dladdr(reinterpret_cast<const void*>(&isOurOwn), &info) != 0 && info.dli_fname != nullptr &&
         std::filesystem::equivalent(path, info.dli_fname, failed);
}

}  // namespace

std::string likelyHolders(const CuptiLibrary& cupti) {
  const std::string name = nameOfHolder(cupti);
  const std::string named = name.empty() ? "" : fmt::format("It calls itself {}. ", name);
  std::vector<std::string> found;
  if (const std::optional<std::string> injected = base::environmentText("CUDA_INJECTION64_PATH"); injected && !isOurOwn(*injected)) {
    found.push_back(fmt::format("{} (CUDA_INJECTION64_PATH)", *injected));
  }
  for (const base::LoadedModule& module : base::loadedModules()) {
    const std::string_view path = module.path;
    const std::string_view file = path.substr(path.rfind('/') + 1);
    for (const Tool& tool : kTools) {
      if (file.find(tool.library) == std::string_view::npos) continue;
      std::string entry = fmt::format("{} ({})", tool.name, file);
      if (std::find(found.begin(), found.end(), entry) == found.end()) found.push_back(std::move(entry));
    }
  }
  if (found.empty()) return named;
  return named + fmt::format("In this process there are: {}. ", fmt::join(found, ", "));
}

}  // namespace xsigma::profiler::backends::cupti
