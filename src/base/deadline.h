// Deadline: when work that may be cut short has to stop.
#pragma once

#include <chrono>
#include <cstdint>

namespace xsigma::profiler::base {

// Any thread may look at it.
class Deadline {
 public:
  Deadline() = default;  // none
  // So long after now; 0 = none.
  explicit Deadline(std::chrono::nanoseconds after) noexcept : after_(after), begun_(Clock::now()) {}

  bool passed() const noexcept { return after_.count() != 0 && Clock::now() - begun_ >= after_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::nanoseconds after_{0};
  Clock::time_point begun_;
};

// For the steps of a loop: asks the clock now and then. Once true, it stays so.
class DeadlineLook {
 public:
  explicit DeadlineLook(const Deadline& deadline) noexcept : deadline_(deadline) {}
  bool passed() noexcept {
    constexpr uint32_t kSteps = 256;
    if (!passed_ && steps_++ % kSteps == 0) passed_ = deadline_.passed();
    return passed_;
  }

 private:
  const Deadline& deadline_;
  uint32_t steps_ = 0;
  bool passed_ = false;
};

}  // namespace xsigma::profiler::base
