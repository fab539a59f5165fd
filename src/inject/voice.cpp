#include "inject/voice.h"

#include <errno.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/environment.h"
#include "capture/device_codec.h"
#include "capture/record_walk.h"
#include "xsigma/profiler/log.h"

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

struct Counted {
  uint64_t records = 0;
  uint64_t kernels = 0;
  uint64_t transfers = 0;
  bool complete = true;
};

// Straight from the records: the program that ends has no memory to spare for a trace of it.
Counted countDevice(const Capture::Source& source) {
  using libkineto::ActivityType;
  const auto end = std::chrono::steady_clock::now() + kMostCounting;
  Counted counted;
  capture::RecordWalk walk;
  capture::RawRecord raw;
  capture::DeviceRecord record;
  for (const capture::Segment& segment : source.contents().segments) {
    if (std::chrono::steady_clock::now() > end) {
      counted.complete = false;
      break;
    }
    if (!walk.open(source, segment)) continue;
    while (walk.next(raw)) {
      if (raw.code() != capture::Code::device || !capture::decodeDevice(raw, record)) continue;
      ++counted.records;
      if (record.activity.role != DeviceRole::work) continue;
      counted.kernels += record.activity.type == ActivityType::CONCURRENT_KERNEL;
      counted.transfers += record.activity.type == ActivityType::GPU_MEMCPY || record.activity.type == ActivityType::GPU_MEMSET;
    }
  }
  return counted;
}

std::string numbered(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

void speak() { setLogSink(say); }

std::string summaryOf(const Capture& capture, const std::string& path) {
  const Counted counted = countDevice(*capture.source());
  if (counted.complete && counted.records == 0) {
    return fmt::format("nothing was heard of {} (process {}): no CUDA work was seen. An empty capture is in {}",
                       program_invocation_short_name, getpid(), path);
  }
  return fmt::format("{}{} and {} of {} (process {}) are in {}. Look at it: xsp stats, xsp export", counted.complete ? "" : "more than ",
                     numbered(counted.kernels, "kernel", "kernels"), numbered(counted.transfers, "copy or fill", "copies and fills"),
                     program_invocation_short_name, getpid(), path);
}

}  // namespace xsigma::profiler::inject
