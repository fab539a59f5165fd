#include "capture/tick_clock.h"

#include <algorithm>
#include <cmath>

namespace xsigma::profiler::capture {

TickClock::TickClock(std::vector<base::ClockPair> pairs, uint32_t ticks_per_ms) : ns_per_tick_(ticks_per_ms != 0 ? 1e6 / ticks_per_ms : 1.0) {
  std::sort(pairs.begin(), pairs.end(), [](const base::ClockPair& a, const base::ClockPair& b) { return a.ticks < b.ticks; });
  for (const base::ClockPair& pair : pairs) {
    if (pairs_.empty() || (pair.ticks > pairs_.back().ticks && pair.monotonic_ns > pairs_.back().monotonic_ns)) pairs_.push_back(pair);
  }
}

int64_t TickClock::toMonotonicNs(uint64_t ticks) const noexcept {
  if (pairs_.empty()) return static_cast<int64_t>(static_cast<double>(ticks) * ns_per_tick_);
  // The piece that holds the tick; outside, the nearest one goes on.
  const auto after = std::upper_bound(pairs_.begin(), pairs_.end(), ticks, [](uint64_t t, const base::ClockPair& pair) { return t < pair.ticks; });
  const size_t last = pairs_.size() - 1;
  const auto not_after = static_cast<size_t>(after - pairs_.begin());
  const size_t from = std::min(not_after > 0 ? not_after - 1 : 0, last > 0 ? last - 1 : 0);
  const base::ClockPair& start = pairs_[from];
  double rate = ns_per_tick_;
  constexpr int64_t kShortNs = 2'000'000;  // too short a piece tells the rate less well than the estimate
  if (last > 0 && pairs_[from + 1].monotonic_ns - start.monotonic_ns > kShortNs) {
    rate = static_cast<double>(pairs_[from + 1].monotonic_ns - start.monotonic_ns) / static_cast<double>(pairs_[from + 1].ticks - start.ticks);
  }
  const auto distance = static_cast<double>(static_cast<int64_t>(ticks - start.ticks));
  return start.monotonic_ns + std::llround(distance * rate);
}

}  // namespace xsigma::profiler::capture
