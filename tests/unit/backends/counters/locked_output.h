// LockedOutput: an output for several threads.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::cupti {

// The lock is held inside of one call only, and the output below calls nobody back.
class LockedOutput final : public BackendOutput {
 public:
  explicit LockedOutput(std::shared_ptr<BackendOutput> below) : below_(std::move(below)) {}

  uint32_t text(std::string_view text) noexcept override {
    const std::lock_guard lock(mutex_);
    return below_->text(text);
  }
  void put(const DeviceActivity& activity) noexcept override {
    const std::lock_guard lock(mutex_);
    below_->put(activity);
  }
  void clockPair(uint8_t clock, uint64_t device_ticks, uint64_t host_ticks) noexcept override {
    const std::lock_guard lock(mutex_);
    below_->clockPair(clock, device_ticks, host_ticks);
  }
  void lost(DeviceLoss cause, uint64_t count) noexcept override {
    const std::lock_guard lock(mutex_);
    below_->lost(cause, count);
  }
  void row(int64_t process_id, int64_t thread_id, std::string_view name, int64_t sort_index) noexcept override {
    const std::lock_guard lock(mutex_);
    below_->row(process_id, thread_id, name, sort_index);
  }
  void property(std::string_view key, std::string_view json) noexcept override {
    const std::lock_guard lock(mutex_);
    below_->property(key, json);
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<BackendOutput> below_;
};

}  // namespace xsigma::profiler::backends::cupti
