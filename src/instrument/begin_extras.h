// What some recordings want written before a begin, or before an end: the native stack, counters of the CPU.
#pragma once

#include <cstdint>

#include "capture/format.h"
#include "instrument/thread_slot.h"

namespace xsigma::profiler::instrument {

// Taken once for a begin, whatever the number of recordings. The slot is busy and settled.
class BeginExtras {
 public:
  explicit BeginExtras(ThreadSlot& slot) noexcept;

  static constexpr uint32_t kMostWords = 3 + 2 + 2 * base::kMostPerfEvents;
  // Writes what the session wants at `at`; how many words that took.
  uint32_t put(capture::Writer& writer, uint32_t session, uint32_t delta, uint32_t* at) const noexcept;

 private:
  const ThreadSlot& slot_;
  uint32_t frame_count_ = 0;
  uint64_t frames_[capture::kMaxStackFrames];
};

// Before an end, if the session wants counters.
void putEndCounters(ThreadSlot& slot, capture::Writer& writer, uint32_t session, uint64_t ticks) noexcept;

}  // namespace xsigma::profiler::instrument
