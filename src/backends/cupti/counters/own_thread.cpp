#include "backends/cupti/counters/own_thread.h"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>

#include "backends/cupti/cupti_threads.h"
#include "base/quiet_thread.h"

namespace xsigma::profiler::backends::cupti {

struct OwnThread::Done {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
};

bool OwnThread::start(std::function<void()> function) {
  done_ = std::make_shared<Done>();
  try {
    base::startQuietThread("xsp-counters", [function = std::move(function), done = done_]() mutable {
      CuptiThreads::ofProcess().noteThis();
      function();
      function = nullptr;  // what it kept alive goes before anybody is told
      const std::lock_guard lock(done->mutex);
      done->done = true;
      done->changed.notify_all();
    }).detach();
  } catch (const std::system_error&) {
    done_.reset();
    return false;
  }
  return true;
}

bool OwnThread::waitUntil(std::chrono::steady_clock::time_point deadline) {
  if (done_ == nullptr) return true;
  std::unique_lock lock(done_->mutex);
  return done_->changed.wait_until(lock, deadline, [this] { return done_->done; });
}

}  // namespace xsigma::profiler::backends::cupti
