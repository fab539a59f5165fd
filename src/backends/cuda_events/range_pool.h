// The ranges that are being timed: a pool that never grows, so that threads take and return them without lock or allocation.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "xsigma/profiler/callbacks.h"
#include "xsigma/profiler/profiler_stubs.h"

namespace xsigma::profiler::backends::cuda_events {

struct Range {
  // Of the one who made the events: they are used again by the next range in this place.
  const ProfilerStubs* maker = nullptr;
  ProfilerVoidEventStub begun;
  ProfilerVoidEventStub ended;

  uint64_t run = 0;            // the number of the run that it belongs to
  const char* name = nullptr;  // the library keeps names for good
  int device = -1;
  void* stream = nullptr;
  int64_t thread_id = 0;
  uint64_t begun_ticks = 0;  // of the host, before the event was asked for
  uint64_t ended_ticks = 0;
  uint64_t scope_ticks = 0;  // where the scope begins in the capture

  std::atomic<uint32_t> holders{0};               // the scope that is open, and the list of those that have ended
  std::atomic<uint32_t> next{0};                  // in the list it is in: a place in the pool + 1
  alignas(void*) unsigned char open_bytes[32]{};  // the OpenRange between begin and end
};

// Never destroyed, since a scope may hold a range of a run that is over.
class RangePool {
 public:
  static constexpr uint32_t kRanges = 8192;

  static RangePool& instance();

  // Null if all are in use. The caller holds it.
  Range* take() noexcept;
  // One holder less; without any, it is free.
  void release(Range& range) noexcept;
  // Destroys the events of all ranges that are not in use.
  void dropEvents() noexcept;

  uint32_t placeOf(const Range& range) const noexcept { return static_cast<uint32_t>(&range - ranges_.get()) + 1; }
  Range& at(uint32_t place) noexcept { return ranges_[place - 1]; }

 private:
  RangePool();
  void giveBack(Range& range) noexcept;

  std::unique_ptr<Range[]> ranges_;
  std::atomic<uint64_t> free_{0};  // place of the first one, and above it a number that changes with every change
};

// Ranges that have ended, from many threads to one.
class EndedRanges {
 public:
  void push(Range& range) noexcept;
  // All there are, linked by `next` in the order of their ends; 0 = none.
  uint32_t takeAll() noexcept;

 private:
  std::atomic<uint32_t> last_{0};
};

}  // namespace xsigma::profiler::backends::cuda_events
