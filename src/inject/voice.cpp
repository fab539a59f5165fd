#include "inject/voice.h"

#include <errno.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/environment.h"
#include "xsigma/profiler/log.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::inject {
namespace {

constexpr std::chrono::milliseconds kMostCounting{500};

int leastSaid() {
  const auto quiet = base::environmentText("XSP_QUIET");
  if (quiet && *quiet != "0") return INT_MAX;
  const auto wanted = base::environmentText("KINETO_LOG_LEVEL");
  return wanted ? std::atoi(wanted->c_str()) : 0;
}

// One write, past the program's own streams, which may be gone by now.
void say(LogLevel level, const char* message) {
  if (static_cast<int>(level) < leastSaid()) return;
  const int before = errno;
  try {
    const char* const kind = level == LogLevel::warning ? "warning: " : level == LogLevel::error ? "error: " : "";
    const std::string line = fmt::format("xsp: {}{}\n", kind, message);
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  } catch (...) {
  }
  errno = before;
}

std::string counted(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

void speak() { setLogSink(say); }

std::string summaryOf(const Capture& capture, const std::string& path) {
  using libkineto::ActivityType;
  uint64_t kernels = 0;
  uint64_t transfers = 0;
  const TraceTotals totals = assembleTrace(capture)->forEachBatch(
      [&](EventBatch& batch) {
        for (const TraceEvent& event : batch.events) {
          kernels += event.type == ActivityType::CONCURRENT_KERNEL;
          transfers += event.type == ActivityType::GPU_MEMCPY || event.type == ActivityType::GPU_MEMSET;
        }
      },
      kMostCounting);
  if (totals.complete && totals.events == 0) {
    return fmt::format("nothing was heard of {} (process {}): no CUDA work was seen. An empty capture is in {}",
                       program_invocation_short_name, getpid(), path);
  }
  return fmt::format("{}{} and {} of {} (process {}) are in {}. Look at it: xsp stats, xsp export", totals.complete ? "" : "more than ",
                     counted(kernels, "kernel", "kernels"), counted(transfers, "copy or fill", "copies and fills"),
                     program_invocation_short_name, getpid(), path);
}

}  // namespace xsigma::profiler::inject
