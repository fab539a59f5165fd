#include "base/clock.h"

#include <atomic>
#include <ctime>

#include "base/ticks.h"

namespace xsigma::profiler::base {
namespace {

int64_t readClock(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

int64_t monotonicNs() noexcept { return readClock(CLOCK_MONOTONIC); }
int64_t realtimeNs() noexcept { return readClock(CLOCK_REALTIME); }

ClockPair takeClockPair(bool counter_is_clock) noexcept {
  if (counter_is_clock) {
    const int64_t now = monotonicNs();
    return {static_cast<uint64_t>(now), now};
  }
  constexpr int kTries = 5;
  ClockPair best;
  uint64_t best_width = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t before = readTicksOrdered();
    const int64_t now = monotonicNs();
    const uint64_t after = readTicksOrdered();
    if (after - before < best_width) {
      best_width = after - before;
      best = {before + (after - before) / 2, now};
    }
  }
  return best;
}

uint32_t ticksPerMillisecond(bool counter_is_clock) noexcept {
  if (counter_is_clock) return 1'000'000;
#if defined(__aarch64__)
  uint64_t frequency;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  return static_cast<uint32_t>(frequency / 1000);
#else
  static constinit std::atomic<uint32_t> known{0};
  uint32_t rate = known.load(std::memory_order_relaxed);
  if (rate == 0) {
    constexpr int64_t kWatchNs = 500'000;
    const ClockPair first = takeClockPair(false);
    ClockPair last = first;
    while (last.monotonic_ns - first.monotonic_ns < kWatchNs) last = takeClockPair(false);
    const auto ticks = static_cast<double>(last.ticks - first.ticks);
    rate = static_cast<uint32_t>(ticks * 1e6 / static_cast<double>(last.monotonic_ns - first.monotonic_ns));
    known.store(rate, std::memory_order_relaxed);
  }
  return rate;
#endif
}

}  // namespace xsigma::profiler::base
