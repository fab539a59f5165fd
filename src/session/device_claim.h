// DeviceClaim: the right to watch devices. One session of a process has it at a time.
#pragma once

#include <utility>

#include "xsigma/profiler/status.h"

namespace xsigma::profiler::session {

// Gives itself back. A forked child has none of its parent's claims, and its own are free.
class DeviceClaim {
 public:
  // Nobody's. take() waits for one that ends soon, at most five seconds; an error if another session has it.
  DeviceClaim() = default;
  static Expected<DeviceClaim> take();

  ~DeviceClaim() { giveBack(); }
  DeviceClaim(DeviceClaim&& other) noexcept : place_(std::exchange(other.place_, nullptr)) {}
  DeviceClaim& operator=(DeviceClaim&& other) noexcept {
    std::swap(place_, other.place_);
    return *this;
  }

  bool holds() const noexcept { return place_ != nullptr; }
  // Only what is on its way is still fetched: whoever comes now need not be sent away.
  void willEndSoon() noexcept;
  void giveBack() noexcept;

 private:
  struct Place;
  explicit DeviceClaim(Place& place) noexcept : place_(&place) {}
  static Place& placeOfProcess();

  Place* place_ = nullptr;
};

}  // namespace xsigma::profiler::session
