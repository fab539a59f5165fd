// Turn: who may use a context's profiler object. Taken by one thread and given back by the same or another.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace xsigma::profiler::backends::cupti {

// Its mutex is held for an assignment only, never while the vendor's library is called: whoever has the turn may be inside that library.
class Turn {
 public:
  void take() {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [this] { return !taken_; });
    taken_ = true;
  }
  bool takeUntil(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    // The end of time is beyond what the system's clock takes.
    if (deadline == std::chrono::steady_clock::time_point::max()) {
      free_.wait(lock, [this] { return !taken_; });
    } else if (!free_.wait_until(lock, deadline, [this] { return !taken_; })) {
      return false;
    }
    return taken_ = true;
  }
  void giveBack() {
    {
      const std::lock_guard lock(mutex_);
      taken_ = false;
    }
    free_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  bool taken_ = false;
};

}  // namespace xsigma::profiler::backends::cupti
