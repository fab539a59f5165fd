// TickClock: from counter ticks to CLOCK_MONOTONIC, piecewise between clock pairs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"

namespace xsigma::profiler::capture {

class TickClock {
 public:
  TickClock() = default;
  // Pairs in any order; those that would turn time back are left out. The rate serves where there is only one pair.
  TickClock(std::vector<base::ClockPair> pairs, uint32_t ticks_per_ms);

  int64_t toMonotonicNs(uint64_t ticks) const noexcept;

 private:
  std::vector<base::ClockPair> pairs_;
  double ns_per_tick_ = 1.0;
};

}  // namespace xsigma::profiler::capture
