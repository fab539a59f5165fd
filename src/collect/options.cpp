#include "collect/options.h"

#include <fmt/format.h>

#include "base/environment.h"
#include "base/ticks.h"
#include "collect/clock_choice.h"

namespace xsigma::profiler::collect {

Expected<CaptureOptions> withEnvironment(CaptureOptions options) {
  const auto policy = base::environmentChoice("XSIGMA_PROFILER_POLICY", {"unbounded", "stop_when_full", "ring"});
  if (!policy) return policy.status();
  if (*policy) options.policy = static_cast<CapturePolicy>(**policy);
  const auto cap = base::environmentBytes("XSIGMA_PROFILER_CAP");
  if (!cap) return cap.status();
  if (*cap) options.byte_cap = **cap;
  if (const auto file = base::environmentText("XSIGMA_PROFILER_FILE")) options.path = *file;
  return options;
}

Status checkOptions(const CaptureOptions& options) {
  if (options.policy > CapturePolicy::ring) {
    return {StatusCode::invalid_argument, fmt::format("CaptureOptions::policy is {}, which is no policy. Use unbounded, stop_when_full or ring",
                                                      static_cast<int>(options.policy))};
  }
  if (options.policy != CapturePolicy::unbounded && options.byte_cap < kMinimumByteCap) {
    return {StatusCode::invalid_argument,
            fmt::format("byte_cap is {} bytes, less than one chunk with its header and tables needs. Ask for at least {}", options.byte_cap,
                        kMinimumByteCap)};
  }
  if (options.follow_fork && options.path.empty()) {
    return {StatusCode::invalid_argument, "follow_fork needs a path: a child's recording in memory could not be reached by anyone. Set "
                                          "CaptureOptions::path"};
  }
  return {};
}

Expected<bool> ticksAreClock() {
  const auto wanted = base::environmentChoice("XSIGMA_PROFILER_CLOCK", {"auto", "counter", "monotonic"});
  if (!wanted) return wanted.status();
  enum Choice : size_t { automatic, counter, monotonic };
  const size_t choice = wanted->value_or(automatic);
  return choice == monotonic || (choice == automatic && !base::counterIsInvariant());
}

}  // namespace xsigma::profiler::collect
