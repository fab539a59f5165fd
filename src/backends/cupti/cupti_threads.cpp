#include "backends/cupti/cupti_threads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace xsigma::profiler::backends::cupti {
namespace {

pid_t thisThread() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

// The system knows it no more: whatever a thread does when it ends has been done.
bool isGone(pid_t thread) noexcept {
  const int before = errno;
  const bool gone = syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH;
  errno = before;
  return gone;
}

}  // namespace

CuptiThreads& CuptiThreads::ofProcess() {
  static CuptiThreads& threads = *new CuptiThreads;
  return threads;
}

pid_t CuptiThreads::noteThis() noexcept {
  const pid_t self = thisThread();
  for (std::atomic<pid_t>& place : threads_) {
    pid_t there = place.load(std::memory_order_relaxed);
    if (there != 0 && there != self && !isGone(there)) continue;
    if (place.compare_exchange_strong(there, self)) return self;
  }
  too_many_.store(true);
  return self;
}

bool CuptiThreads::othersAreGone() noexcept {
  if (too_many_.load()) return false;
  const pid_t self = thisThread();
  for (std::atomic<pid_t>& place : threads_) {
    pid_t there = place.load();
    if (there == 0 || there == self) continue;
    if (!isGone(there)) return false;
    place.compare_exchange_strong(there, 0);
  }
  return true;
}

void CuptiThreads::waitFor(pid_t thread, std::chrono::milliseconds most) noexcept {
  const auto end = std::chrono::steady_clock::now() + most;
  while (!isGone(thread) && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::microseconds(20));
  static_cast<void>(othersAreGone());  // forgets it: its number may be another's soon
}

}  // namespace xsigma::profiler::backends::cupti
