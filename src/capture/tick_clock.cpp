#include "capture/tick_clock.h"

#include <algorithm>

namespace xsigma::profiler::capture {

TickClock::TickClock(std::vector<base::ClockPair> pairs, uint32_t ticks_per_ms) : ns_per_tick_(ticks_per_ms != 0 ? 1e6 / ticks_per_ms : 1.0) {
  std::sort(pairs.begin(), pairs.end(), [](const base::ClockPair& a, const base::ClockPair& b) { return a.ticks < b.ticks; });
  for (const base::ClockPair& pair : pairs) {
    if (pairs_.empty() || (pair.ticks > pairs_.back().ticks && pair.monotonic_ns > pairs_.back().monotonic_ns)) pairs_.push_back(pair);
  }
}

TickClock::Piece TickClock::pieceOf(uint64_t ticks) const noexcept {
  Piece piece;
  piece.ns_per_tick = ns_per_tick_;
  if (pairs_.empty()) return piece;
  // The piece that holds the tick; outside, the nearest one goes on.
  const auto after = std::upper_bound(pairs_.begin(), pairs_.end(), ticks, [](uint64_t t, const base::ClockPair& pair) { return t < pair.ticks; });
  const size_t last = pairs_.size() - 1;
  const auto not_after = static_cast<size_t>(after - pairs_.begin());
  const size_t from = std::min(not_after > 0 ? not_after - 1 : 0, last > 0 ? last - 1 : 0);
  const base::ClockPair& start = pairs_[from];
  piece.from_tick = start.ticks;
  piece.from_ns = start.monotonic_ns;
  piece.first_tick = from == 0 ? 0 : start.ticks;
  if (from + 1 < last) {
    piece.end_tick = pairs_[from + 1].ticks;
    piece.most_ns = pairs_[from + 1].monotonic_ns;
  }
  constexpr int64_t kShortNs = 2'000'000;  // too short a piece tells the rate less well than the estimate
  if (last > 0 && pairs_[from + 1].monotonic_ns - start.monotonic_ns > kShortNs) {
    piece.ns_per_tick = static_cast<double>(pairs_[from + 1].monotonic_ns - start.monotonic_ns) / static_cast<double>(pairs_[from + 1].ticks - start.ticks);
  }
  return piece;
}

}  // namespace xsigma::profiler::capture
