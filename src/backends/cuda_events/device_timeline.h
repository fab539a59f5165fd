// DeviceTimeline: where events of one device lie on its own time line, and how that one lies beside the host's.
#pragma once

#include <cstdint>
#include <optional>

#include "xsigma/profiler/backend.h"
#include "xsigma/profiler/profiler_stubs.h"

namespace xsigma::profiler::backends::cuda_events {

// The host's ticks in nanoseconds since this object was made. The longer it lives, the better it knows the rate.
class HostRate {
 public:
  explicit HostRate(uint64_t (*host_ticks)() noexcept) noexcept;
  // Takes the two clocks again.
  void measure() noexcept;
  int64_t nsOf(uint64_t ticks) const noexcept;
  uint64_t ticksOf(int64_t ns) const noexcept;

 private:
  struct Pair {
    uint64_t ticks;
    int64_t ns;
  };
  Pair take() const noexcept;

  uint64_t (*host_ticks_)() noexcept;
  Pair first_;
  double ns_per_tick_ = 1.0;
};

// An event only tells how far it is from another one, so one is the base for all; as a float, so the base must not be far.
//
// An event is never reached before it was asked for. Over a while, the one that was reached soonest after that (the device had nothing else to do) tells by how
// much the two time lines differ, to the microseconds that a device takes to react. A device that is never idle keeps what was known, less the most that clocks drift.
class DeviceTimeline {
 public:
  DeviceTimeline(uint8_t clock, const HostRate& rate) noexcept : clock_(clock), rate_(rate) {}

  // Nanoseconds on the device's line. Takes the event as its base if it has none. Waits until the device is there; throws what the stubs throw.
  int64_t place(const ProfilerStubs& stubs, ProfilerVoidEventStub& event);
  // An event that lies at `at` may become the new base; it is exchanged for the old one then.
  void mayRebase(ProfilerVoidEventStub& event, int64_t at) noexcept;

  // The event at `at` was asked for at that tick of the host.
  void note(int64_t at, uint64_t asked_ticks) noexcept;
  // Whether enough has been noted to tell more of the clock.
  bool due() const noexcept { return seen_ && newest_ - told_ >= kWindowNs; }
  void tell(BackendOutput& output) noexcept;

  uint8_t clock() const noexcept { return clock_; }

  static constexpr int64_t kOrigin = int64_t{1} << 50;  // of the line: what was begun before the base is above zero, too
  static constexpr int64_t kWindowNs = 250'000'000;

 private:
  static constexpr int64_t kFarNs = 1'000'000'000;  // microseconds as a float are exact to 0.06 there
  static constexpr double kMostDrift = 50e-6;

  uint8_t clock_;
  const HostRate& rate_;
  ProfilerVoidEventStub base_;
  int64_t base_at_ = kOrigin;

  bool seen_ = false;
  int64_t oldest_ = 0;  // of what was noted
  int64_t newest_ = 0;
  int64_t told_ = 0;                    // up to here
  std::optional<int64_t> lower_bound_;  // host − device, of what was noted since
  std::optional<int64_t> difference_;   // what was told last
};

}  // namespace xsigma::profiler::backends::cuda_events
