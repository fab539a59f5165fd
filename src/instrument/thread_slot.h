// ThreadSlot: what the profiler keeps for one thread. Reached through one thread-local pointer.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/ticks.h"
#include "capture/writer.h"
#include "instrument/callback_list.h"
#include "instrument/name_cache.h"
#include "xsigma/profiler/record_function.h"

namespace xsigma::profiler::instrument {

inline constexpr uint32_t kMaxSessions = 4;

// Values of ThreadSlot::armed beside an epoch, which stands in the high half.
inline constexpr uint64_t kBusy = 1;     // the thread is inside the profiler: whoever enters now came by a signal
inline constexpr uint64_t kNotFast = 2;  // the thread must take the general way
inline constexpr uint64_t kStale = 0;    // ThreadSlot::expected after a change

struct alignas(64) ThreadSlot {
  // Equal exactly when the first writer is all there is to feed. `armed` is the owner's; others look at it, after a process barrier.
  // `expected` is set by the owner and made stale by whoever changes sessions or callbacks, both under the registry's lock.
  std::atomic<uint64_t> armed{kNotFast};
  std::atomic<uint64_t> expected{kStale};
  capture::Writer writers[kMaxSessions];

  uint64_t synced_word = 0;  // the active word that the rest of this slot was made for
  uint8_t place[kMaxSessions] = {0, 1, 2, 3};  // of each session's writer
  uint8_t recording = 0;                       // bits of the sessions that scopes feed
  bool fast = false;
  bool enabled = true;    // enableRecordFunction
  bool ordered = false;   // end stamps wait
  bool counter_is_clock = false;
  bool fence = false;  // no process barrier here: order by hand

  CallbackSteps steps;
  CallbackList local_callbacks;
  std::atomic<CallbackEntry*> running{nullptr};  // the callback that this thread is inside of
  std::atomic<bool> removing{false};             // …and that waits for another thread's callback

  NameCache* names = nullptr;
  detail::ScopedRecordFunction* innermost = nullptr;
  void* free_frames = nullptr;  // memory of RecordFunctions for observed scopes, linked
  uint64_t next_id = 0;         // ids for ranges that nothing records
  uint64_t id_limit = 0;
  uint64_t sequence_number = 0;
  uint64_t logical_id = 0;
  int32_t system_id = 0;
  char name[64] = {};

  ThreadSlot* next = nullptr;  // all slots ever made
  bool in_use = false;

  // Every way in marks the slot busy first and looks at the active word second; stop and remove do it the other way round.
  uint64_t enter() noexcept {
    const uint64_t was = armed.load(std::memory_order_relaxed);
    armed.store(kBusy, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return was;
  }
  void leave(uint64_t value) noexcept { armed.store(value, std::memory_order_release); }
  // After the general way: fast again if that is all there is.
  void leave() noexcept { leave(fast ? epochHigh() : kNotFast); }
  uint64_t epochHigh() const noexcept { return synced_word >> 32 << 32; }

  capture::Writer& writerOf(uint32_t session) noexcept { return writers[place[session]]; }
  // Only the first writer can be fast.
  void putFirst(uint32_t session) noexcept;

  uint64_t beginTicks() const noexcept {
    return counter_is_clock ? static_cast<uint64_t>(base::monotonicNs()) : base::readTicks();
  }
  uint64_t endTicks() const noexcept {
    return counter_is_clock ? static_cast<uint64_t>(base::monotonicNs()) : ordered ? base::readTicksOrdered() : base::readTicks();
  }
};

// Shared by all threads that have no slot yet, or none any more. Always busy, never fast.
extern ThreadSlot unattached_slot;

extern constinit __attribute__((tls_model("initial-exec"))) thread_local ThreadSlot* current_slot;

}  // namespace xsigma::profiler::instrument
