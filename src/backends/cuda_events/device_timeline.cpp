#include "device_timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.h"

namespace xsigma::profiler::backends::cuda_events {

HostRate::HostRate(uint64_t (*host_ticks)() noexcept) noexcept : host_ticks_(host_ticks), first_(take()) {}

HostRate::Pair HostRate::take() const noexcept {
  Pair best{};
  int64_t narrowest = INT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const int64_t before = base::monotonicNs();
    const uint64_t ticks = host_ticks_();
    const int64_t after = base::monotonicNs();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {ticks, before + narrowest / 2};
  }
  return best;
}

void HostRate::measure() noexcept {
  const Pair now = take();
  if (now.ticks > first_.ticks && now.ns > first_.ns) {
    ns_per_tick_ = static_cast<double>(now.ns - first_.ns) / static_cast<double>(now.ticks - first_.ticks);
  }
}

int64_t HostRate::nsOf(uint64_t ticks) const noexcept {
  return std::llround(static_cast<double>(static_cast<int64_t>(ticks - first_.ticks)) * ns_per_tick_);
}

uint64_t HostRate::ticksOf(int64_t ns) const noexcept {
  return first_.ticks + static_cast<uint64_t>(std::llround(static_cast<double>(ns) / ns_per_tick_));
}

int64_t DeviceTimeline::place(const ProfilerStubs& stubs, ProfilerVoidEventStub& event) {
  if (base_ == nullptr) {
    base_ = std::move(event);
    event = nullptr;
    return base_at_;
  }
  return base_at_ + std::llround(static_cast<double>(stubs.elapsed(&base_, &event)) * 1000.0);
}

void DeviceTimeline::mayRebase(ProfilerVoidEventStub& event, int64_t at) noexcept {
  if (event == nullptr || at - base_at_ < kFarNs) return;
  std::swap(base_, event);
  base_at_ = at;
}

void DeviceTimeline::note(int64_t at, uint64_t asked_ticks) noexcept {
  const int64_t difference = rate_.nsOf(asked_ticks) - at;
  lower_bound_ = lower_bound_ ? std::max(*lower_bound_, difference) : difference;
  oldest_ = seen_ ? std::min(oldest_, at) : at;
  newest_ = seen_ ? std::max(newest_, at) : at;
  if (!std::exchange(seen_, true)) told_ = at;
}

void DeviceTimeline::tell(BackendOutput& output) noexcept {
  if (!seen_ || !lower_bound_) return;
  const auto pair = [&](int64_t at) { output.clockPair(clock_, static_cast<uint64_t>(at), rate_.ticksOf(at + *difference_)); };
  const bool first = !difference_;
  if (!first && newest_ <= told_) return;
  const auto drift = static_cast<int64_t>(kMostDrift * static_cast<double>(newest_ - told_));
  difference_ = first ? *lower_bound_ : std::max(*lower_bound_, *difference_ - drift);
  if (first) pair(oldest_);
  if (newest_ > oldest_) pair(newest_);
  told_ = newest_;
  lower_bound_.reset();
}

}  // namespace xsigma::profiler::backends::cuda_events
