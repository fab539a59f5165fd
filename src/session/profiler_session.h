// ProfilerSession: one run of the profiler, from a checked configuration to its capture.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include "collect/live_capture.h"
#include "session/device_watch.h"
#include "session/session_plan.h"
#include "xsigma/profiler/observer.h"
#include "xsigma/profiler/record.h"
#include "xsigma/profiler/record_scope.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler::session {

// What takes time when it is done for the first time: measuring the counter, finding the unwinder. Enabling does it where nobody has.
Status warmUp(const SessionPlan& plan);

class ProfilerSession {
 public:
  ~ProfilerSession();
  static Expected<std::shared_ptr<ProfilerSession>> start(SessionPlan plan);

  const ProfilerConfig& config() const noexcept { return plan_.config; }
  bool recordsCpu() const noexcept { return plan_.activities.count(ActivityType::CPU) != 0; }

  // The calling thread takes part. Nothing to do where all threads do.
  void join() noexcept;
  void leave() noexcept;
  void setCollecting(bool on) noexcept { live_->setCollecting(on); }
  // Of devices. False if none is watched.
  bool setDeviceCollecting(bool on) noexcept;
  void addMetadata(std::string_view key, std::string_view json) noexcept { live_->addProperty(key, json); }
  void report(const GivenEvent& event, RecordScope scope = RecordScope::FUNCTION) noexcept;
  // The calling thread gets a row, whatever it does.
  void addThread() noexcept;
  void pushExternalId(uint64_t id, uint8_t domain) noexcept;
  void popExternalId(uint8_t domain) noexcept;
  void step() noexcept { steps_.fetch_add(1, std::memory_order_relaxed); }
  bool running() const noexcept { return live_->running(); }
  // O(threads); what devices still have is fetched behind it. A second call gives the same capture.
  Capture stop();

 private:
  explicit ProfilerSession(SessionPlan plan) : plan_(std::move(plan)) {}

  SessionPlan plan_;
  std::shared_ptr<collect::LiveCapture> live_;
  std::unique_ptr<DeviceWatch> devices_;  // null: none is watched
  std::atomic<uint64_t> steps_{0};
};

}  // namespace xsigma::profiler::session
