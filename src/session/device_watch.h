// DeviceWatch: the devices of a session, each watched by a backend.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collect/live_capture.h"
#include "session/session_plan.h"
#include "xsigma/profiler/backend.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler::session {

class DeviceWatch {
 public:
  // Watches what the plan asks for. A device that cannot be watched is no error where something else is recorded: the reason is warned of and goes into
  // the capture. Null if there is none at all. An error where another session has the device.
  static Expected<std::unique_ptr<DeviceWatch>> start(const SessionPlan& plan, const std::shared_ptr<collect::LiveCapture>& live);
  // Does what is slow the first time.
  static Status prepare(const SessionPlan& plan, bool counter_is_clock);
  // How much of the capture's cap goes to records on their way.
  static size_t bufferBytes(const SessionPlan& plan);

  ~DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

  void setCollecting(bool on) noexcept;
  // Nothing is recorded from now on. The function that it returns fetches the rest, and gives the devices back. In a forked child neither does anything:
  // devices and their threads are the parent's.
  std::function<void()> stop() noexcept;

 private:
  class Runs;  // outlives the session while the rest is fetched

  explicit DeviceWatch(std::shared_ptr<Runs> runs) : runs_(std::move(runs)) {}
  static Status watch(Backend& backend, BackendRequest request, bool between_marks, const std::shared_ptr<Runs>& runs,
                      const std::shared_ptr<collect::LiveCapture>& live);

  std::shared_ptr<Runs> runs_;
};

}  // namespace xsigma::profiler::session
