// Timing: one run of timing scopes by events, shared by the threads that run scopes and the worker that asks the device afterwards.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "device_timeline.h"
#include "range_pool.h"
#include "xsigma/profiler/backend.h"
#include "xsigma/profiler/record_function.h"

namespace xsigma::profiler::backends::cuda_events {

class Timing {
 public:
  Timing(const ProfilerStubs& stubs, const BackendRequest& request, std::shared_ptr<BackendOutput> output);

  // On the thread of the scope. Null if there is nothing to time; otherwise the caller's to release.
  Range* begin() noexcept;
  void end(Range& range, const RecordFunction& function) noexcept;

  // Whose begin() and end() are called from now on, or no longer; those that are inside may still be.
  void beginCallbacks(RecordFunctionCallback callback);
  void endCallbacks() noexcept;
  // False in a forked child: neither the worker nor the device is there.
  bool isOfThisProcess() const noexcept;

  void setCollecting(bool on) noexcept { collecting_.store(on, std::memory_order_relaxed); }
  // The worker's whole life.
  void work() noexcept;
  // After endCallbacks(): waits until nobody is inside a callback and the worker has put all. Nothing is put after it has returned.
  bool drain(std::chrono::steady_clock::time_point deadline) noexcept;

 private:
  DeviceTimeline& timelineOf(int device);
  int64_t rowOf(const Range& range);
  void settle(Range& range) noexcept;
  void put(const Range& range, const DeviceTimeline& timeline, int64_t begun, int64_t ended) noexcept;
  void tellLosses() noexcept;

  const ProfilerStubs& stubs_;
  uint64_t (*const host_ticks_)() noexcept;
  const int process_id_;
  const uint64_t number_;
  std::atomic<CallbackHandle> callback_{INVALID_CALLBACK_HANDLE};
  std::atomic<bool> callbacks_ended_{false};
  std::atomic<bool> collecting_{true};
  std::atomic<uint64_t> no_range_{0};  // scopes that found the pool empty
  std::atomic<uint64_t> refused_{0};   // events that could not be recorded
  EndedRanges ended_;

  // The worker's own.
  HostRate rate_;
  std::map<int, DeviceTimeline> timelines_;
  std::map<std::pair<int, std::pair<void*, int64_t>>, int64_t> rows_;  // device, stream, host thread
  uint64_t correlation_ = 0;
  uint64_t unreadable_ = 0;

  std::mutex mutex_;  // of those below, and of putting. Not held while the device is asked
  std::condition_variable changed_;
  std::shared_ptr<BackendOutput> output_;  // null: nothing is put any more
  bool draining_ = false;
  bool done_ = false;
};

}  // namespace xsigma::profiler::backends::cuda_events
