// Moments at which the counter and CLOCK_MONOTONIC were read together, by the test and not by the profiler: to hold its clock to.
#pragma once

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace device_tests {

// The counter that captures count in, after everything before it has been done.
inline uint64_t readCounter() {
#if defined(__x86_64__)
  uint32_t low = 0, high = 0;
  asm volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
  return (static_cast<uint64_t>(high) << 32) | low;
#elif defined(__aarch64__)
  uint64_t ticks = 0;
  asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
  return ticks;
#else
#error "XSigma Profiler runs on x86-64 and arm64"
#endif
}

inline int64_t monotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

struct HeldOutPair {
  uint64_t ticks = 0;
  int64_t monotonic_ns = 0;
  int64_t width_ns = 0;  // between the two reads of the clock around that of the counter
};

// The tightest of several tries: an interruption between the reads does no harm.
inline HeldOutPair takePair() {
  HeldOutPair best;
  for (int i = 0; i < 8; ++i) {
    const int64_t before = monotonicNs();
    const uint64_t ticks = readCounter();
    const int64_t after = monotonicNs();
    if (i == 0 || after - before < best.width_ns) best = {ticks, before + (after - before) / 2, after - before};
  }
  return best;
}

// Takes a pair every so often on a thread of its own, until it is stopped.
class PairTaker {
 public:
  explicit PairTaker(std::chrono::milliseconds interval) : thread_([this, interval] { run(interval); }) {}
  ~PairTaker() { stop(); }
  PairTaker(const PairTaker&) = delete;
  PairTaker& operator=(const PairTaker&) = delete;

  const std::vector<HeldOutPair>& stop() {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
    return pairs_;
  }

 private:
  void run(std::chrono::milliseconds interval) {
    while (!ended_) {
      pairs_.push_back(takePair());
      std::this_thread::sleep_for(interval);
    }
  }

  std::atomic<bool> ended_{false};
  std::vector<HeldOutPair> pairs_;
  std::thread thread_;
};

}  // namespace device_tests
