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

  // One straight stretch of the conversion. It never runs past the start of the next one: time does not go back where they meet.
  struct Piece {
    uint64_t first_tick = 0;  // ticks in [first, end) belong to it
    uint64_t end_tick = UINT64_MAX;
    uint64_t from_tick = 0;
    int64_t from_ns = 0;
    int64_t most_ns = INT64_MAX;
    double ns_per_tick = 1.0;

    bool holds(uint64_t ticks) const noexcept { return ticks >= first_tick && ticks < end_tick; }
    int64_t toNs(uint64_t ticks) const noexcept {
      constexpr double kFarthest = 1e18;  // 30 years: beyond lies damage
      const double exact = static_cast<double>(static_cast<int64_t>(ticks - from_tick)) * ns_per_tick;
      const double distance = exact > kFarthest ? kFarthest : exact < -kFarthest ? -kFarthest : exact;
      const int64_t ns = from_ns + static_cast<int64_t>(distance < 0 ? distance - 0.5 : distance + 0.5);
      return ns < most_ns ? ns : most_ns;
    }
  };
  Piece pieceOf(uint64_t ticks) const noexcept;
  int64_t toMonotonicNs(uint64_t ticks) const noexcept { return pieceOf(ticks).toNs(ticks); }

 private:
  std::vector<base::ClockPair> pairs_;
  double ns_per_tick_ = 1.0;
};

}  // namespace xsigma::profiler::capture
