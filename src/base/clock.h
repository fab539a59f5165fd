// Clock pairs: what the counter and the system's clocks said at the same moment.
#pragma once

#include <cstdint>

namespace xsigma::profiler::base {

struct ClockPair {
  uint64_t ticks = 0;
  int64_t monotonic_ns = 0;
};

int64_t monotonicNs() noexcept;
int64_t realtimeNs() noexcept;

// The tightest of a few tries, so that an interruption between the two reads does no harm. About a microsecond.
ClockPair takeClockPair(bool counter_is_clock) noexcept;

// The counter's rate. The first call on x86-64 watches it for half a millisecond.
uint32_t ticksPerMillisecond(bool counter_is_clock) noexcept;

}  // namespace xsigma::profiler::base
