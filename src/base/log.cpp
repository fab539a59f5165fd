#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace xsigma::profiler {
namespace {

constexpr const char* levelName(LogLevel level) {
  switch (level) {
    case LogLevel::verbose: return "verbose";
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: return "error";
  }
  return "";
}

void writeToStderr(LogLevel level, const char* message) {
  const char* wanted = std::getenv("KINETO_LOG_LEVEL");
  char* end = nullptr;
  const long parsed = wanted != nullptr ? std::strtol(wanted, &end, 10) : 1;
  const long threshold = wanted != nullptr && end == wanted ? 1 : parsed;
  if (static_cast<int>(level) >= threshold) std::fprintf(stderr, "xsigma-profiler: %s: %s\n", levelName(level), message);
}

constinit std::atomic<LogSink> current_sink{nullptr};

}  // namespace

void setLogSink(LogSink sink) noexcept { current_sink.store(sink, std::memory_order_release); }

void base::log(LogLevel level, const std::string& message) noexcept {
  const LogSink sink = current_sink.load(std::memory_order_acquire);
  (sink != nullptr ? sink : writeToStderr)(level, message.c_str());
}

}  // namespace xsigma::profiler
