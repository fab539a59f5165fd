#include "base/own_thread.h"

#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "base/quiet_thread.h"

namespace xsigma::profiler::base {

struct OwnThread::Progress {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
};

bool OwnThread::start(const char* name, std::function<void()> work) {
  const auto progress = std::make_shared<Progress>();
  try {
    startQuietThread(name, [work = std::move(work), progress]() mutable {
      try {
        work();
      } catch (const std::bad_alloc&) {  // it has ended, if not well
      }
      work = nullptr;
      const std::lock_guard lock(progress->mutex);
      progress->over = true;
      progress->changed.notify_all();
    }).detach();
  } catch (const std::system_error&) {
    return false;
  }
  progress_ = progress;
  return true;
}

bool OwnThread::waitUntil(std::chrono::steady_clock::time_point deadline) {
  if (progress_ == nullptr) return true;
  std::unique_lock lock(progress_->mutex);
  return progress_->changed.wait_until(lock, deadline, [this] { return progress_->over; });
}

bool endsWithin(std::chrono::milliseconds most, const char* name, const std::function<void()>& work) {
  OwnThread thread;
  if (!thread.start(name, work)) {
    work();
    return true;
  }
  return thread.waitUntil(std::chrono::steady_clock::now() + most);
}

}  // namespace xsigma::profiler::base
