#include "session/device_claim.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "base/thread_name.h"

namespace xsigma::profiler::session {
namespace {

constexpr std::chrono::seconds kMostWaiting{5};

}  // namespace

struct DeviceClaim::Place {
  const pid_t process_id = getpid();
  Place* parents = nullptr;  // kept: its lock may have been held when the process was forked
  std::mutex mutex;
  std::condition_variable changed;
  bool taken = false;
  bool ends_soon = false;
  uint32_t taken_by = 0;  // thread
};

// Never destroyed: a session may outlive main.
DeviceClaim::Place& DeviceClaim::placeOfProcess() {
  static constinit std::atomic<Place*> place{nullptr};
  Place* now = place.load();
  if (now != nullptr && now->process_id == getpid()) return *now;
  auto fresh = std::make_unique<Place>();
  fresh->parents = now;
  if (place.compare_exchange_strong(now, fresh.get())) return *fresh.release();
  return *now;  // another thread was quicker
}

Expected<DeviceClaim> DeviceClaim::take() {
  Place& place = placeOfProcess();
  std::unique_lock lock(place.mutex);
  if (place.ends_soon) place.changed.wait_for(lock, kMostWaiting, [&] { return !place.taken; });
  if (place.taken) {
    const std::string name = base::threadName(place.taken_by);
    return Status(StatusCode::busy,
                  fmt::format("another session of this process watches the device, which thread {}{} began; one at a time can. Stop that one "
                              "first, or leave the device out of the activities",
                              place.taken_by, name.empty() ? "" : " (" + name + ")"));
  }
  place.taken = true;
  place.taken_by = static_cast<uint32_t>(syscall(SYS_gettid));
  place.ends_soon = false;
  return DeviceClaim(place);
}

void DeviceClaim::willEndSoon() noexcept {
  if (place_ == nullptr || place_->process_id != getpid()) return;
  const std::lock_guard lock(place_->mutex);
  place_->ends_soon = true;
}

void DeviceClaim::giveBack() noexcept {
  Place* const place = std::exchange(place_, nullptr);
  if (place == nullptr || place->process_id != getpid()) return;
  const std::lock_guard lock(place->mutex);
  place->taken = place->ends_soon = false;
  place->changed.notify_all();
}

}  // namespace xsigma::profiler::session
