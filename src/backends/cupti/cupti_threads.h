// CuptiThreads: which threads of ours have called CUPTI. When a thread ends, CUPTI frees what it kept for it; a finalize at that very moment frees it too, and
// the program crashes (13.0). So CUPTI is not finalized before they are gone.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>

namespace xsigma::profiler::backends::cupti {

class CuptiThreads {
 public:
  static CuptiThreads& ofProcess();

  // By a thread of ours, before it calls CUPTI. Returns its number.
  pid_t noteThis() noexcept;
  // Whether no other thread than the calling one is left of them.
  bool othersAreGone() noexcept;
  // Waits for one of them to be gone, not longer than that. To be called by another thread.
  void waitFor(pid_t thread, std::chrono::milliseconds most) noexcept;

 private:
  std::array<std::atomic<pid_t>, 64> threads_{};  // 0 = none
  std::atomic<bool> too_many_{false};             // one found no place: there is no telling any more
};

}  // namespace xsigma::profiler::backends::cupti
