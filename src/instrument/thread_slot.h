// ThreadGate and ThreadSlot: what the profiler keeps for one thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/perf_counters.h"
#include "base/ticks.h"
#include "capture/writer.h"
#include "instrument/callback_list.h"
#include "instrument/name_cache.h"
#include "xsigma/profiler/record_function.h"

namespace xsigma::profiler::instrument {

inline constexpr uint32_t kMaxSessions = 4;

// Values of ThreadGate::armed beside an epoch, which stands in the high half.
inline constexpr uint64_t kBusy = 1;     // the thread is inside the profiler: whoever enters now came by a signal
inline constexpr uint64_t kNotFast = 2;  // the thread must look what there is to do
inline constexpr uint64_t kGeneral = 4;  // added to the epoch: it has looked, and must take the general way
inline constexpr uint64_t kStale = 0;    // ThreadGate::expected after a change

struct ThreadSlot;
struct ObservedFrame;

extern ObservedFrame no_frame;                // ready for nothing
inline constexpr NameCache::Entry no_name{};  // equals no name

// The part of a thread's state that every scope touches. It lies in thread-local storage itself: one load to reach it.
struct ThreadGate {
  // Equal exactly when `first` is all there is to feed; but for kGeneral when the slot is in step and there is more to do.
  // `armed` is the owner's; others look at it, after a process barrier.
  // While a thread is on the lean way (observed_scope.h), both also bear a number that tells this thread and this change from all others.
  // `expected` is set by the owner and made stale by whoever changes sessions or callbacks, both under the registry's lock.
  std::atomic<uint64_t> armed{kNotFast};
  std::atomic<uint64_t> expected{kStale};
  capture::Writer first;
  ThreadSlot* slot = nullptr;  // the rest; made at first use
  const NameCache::Entry* recent_name = &no_name;
  uint32_t releases = 0;       // how often the thread, on its way out, has given a slot back

  // Every way in marks the gate busy first and looks for changes second; stop and remove do it the other way round.
  uint64_t enter() noexcept {
    const uint64_t was = armed.load(std::memory_order_relaxed);
    armed.store(kBusy, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return was;
  }
  // Whether what enter() found is `expected`.
  bool isInStep(uint64_t was) const noexcept {
#if defined(__x86_64__)  // the compiler would load an atomic into a register first
    bool same;
    asm volatile("cmpq %[expected], %[was]" : "=@cce"(same) : [expected] "m"(expected), [was] "r"(was));
    return same;
#else
    return was == expected.load(std::memory_order_relaxed);
#endif
  }
  void leave(uint64_t value) noexcept { armed.store(value, std::memory_order_release); }
};
static_assert(sizeof(ThreadGate) <= 256, "a library with much of it cannot be loaded late");

extern constinit __attribute__((tls_model("initial-exec"))) thread_local ThreadGate gate;

// What else the profiler keeps for one thread. Slots are never freed; they pass from a thread that ends to one that begins.
struct alignas(64) ThreadSlot {
  ThreadGate* own_gate = nullptr;  // null while no thread has the slot; under the registry's lock
  capture::Writer others[kMaxSessions - 1];
  uint64_t synced_word = 0;  // the active word that the rest of this slot was made for
  uint8_t place[kMaxSessions] = {0, 1, 2, 3};  // of each session's writer
  uint8_t recording = 0;                       // bits of the sessions that scopes feed
  uint64_t way = kNotFast;                     // what `armed` is while the thread is elsewhere
  bool enabled = true;    // enableRecordFunction
  bool single = false;    // the gate's writer is the only one, and its ticks are plain counter reads
  uint8_t single_session = 0;
  bool lean = false;      // single, and one callback that sees every range: `way` is one of a kind then
  bool ordered = false;   // end stamps wait
  bool records_inputs = false;
  bool counter_is_clock = false;
  bool fence = false;  // no process barrier here: order by hand

  CallbackSteps steps;
  CallbackList local_callbacks;
  std::atomic<CallbackEntry*> running{nullptr};  // the callback that this thread is inside of
  std::atomic<bool> removing{false};             // …and that waits for another thread's callback

  NameCache* names = nullptr;
  detail::ScopedRecordFunction* innermost = nullptr;
  ObservedFrame* free_frames = &no_frame;  // of observed scopes, linked; never null
  uint64_t next_id = 0;         // ids for ranges that nothing records
  uint64_t id_limit = 0;
  uint64_t sequence_number = 0;
  uint64_t logical_id = 0;
  int32_t system_id = 0;
  char name[64] = {};

  uint32_t joined[kMaxSessions] = {};   // start epochs of the sessions that the thread has joined
  bool left[kMaxSessions] = {};         // … and left again: what was open then gets its end, nothing begins
  uint32_t scopes[kMaxSessions] = {};   // bits of the RecordScopes that each session collects
  uint8_t memory = 0;                   // bits of the sessions that want to know of memory
  uint8_t stacks = 0;                   // … that want the native stack of every begin
  uint8_t counted = 0;                  // … that want counters of the CPU
  bool detailed = false;                // some session wants more of a begin than others, or leaves some scopes out
  base::PerfCounters perf[kMaxSessions];

  ThreadSlot* next = nullptr;  // all slots ever made

  // After the general way: fast again if that is all there is.
  void leave() noexcept { own_gate->leave(way); }
  uint64_t epochHigh() const noexcept { return synced_word >> 32 << 32; }

  bool collects(uint32_t session, RecordScope scope) const noexcept { return (scopes[session] >> static_cast<uint32_t>(scope) & 1) != 0; }
  capture::Writer& writerOf(uint32_t session) noexcept { return place[session] == 0 ? own_gate->first : others[place[session] - 1]; }
  // Only the gate's writer can be fast.
  void putFirst(uint32_t session) noexcept;

  uint64_t beginTicks() const noexcept {
    return counter_is_clock ? static_cast<uint64_t>(base::monotonicNs()) : base::readTicks();
  }
  uint64_t endTicks() const noexcept {
    return counter_is_clock ? static_cast<uint64_t>(base::monotonicNs()) : ordered ? base::readTicksOrdered() : base::readTicks();
  }
};

}  // namespace xsigma::profiler::instrument
