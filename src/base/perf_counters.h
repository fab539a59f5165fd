// PerfCounters: what the CPU counts for one thread, through perf_event_open.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "xsigma/profiler/status.h"

namespace xsigma::profiler::base {

inline constexpr size_t kMostPerfEvents = 4;

// Counters by name, as the system numbers them.
struct PerfPlan {
  struct Event {
    uint32_t type = 0;
    uint64_t config = 0;
  };
  std::array<Event, kMostPerfEvents> events{};
  uint32_t count = 0;
};

// Known names, no more than kMostPerfEvents of them, none twice.
Expected<PerfPlan> planPerfEvents(const std::vector<std::string>& names);
// The same, and whether this system lets a thread count them: tries it.
Status checkPerfEvents(const std::vector<std::string>& names);

// The counters of the thread that opened them, in user space. Not copied, closed by hand: it lies in memory that is never destroyed.
class PerfCounters {
 public:
  // errno if the system refuses.
  int open(const PerfPlan& plan) noexcept;
  void close() noexcept;
  bool isOpen() const noexcept { return count_ != 0; }
  uint32_t count() const noexcept { return count_; }
  // Zeros if the system does not answer. One system call.
  void read(uint64_t* values) const noexcept;

 private:
  int files_[kMostPerfEvents] = {-1, -1, -1, -1};
  uint32_t count_ = 0;
};

}  // namespace xsigma::profiler::base
