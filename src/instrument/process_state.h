// ProcessState: the one mutable thing that outlives everything. Constant-initialised, never destroyed.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/perf_counters.h"
#include "capture/name_table.h"
#include "capture/sink.h"
#include "instrument/thread_slot.h"

namespace xsigma::profiler::instrument {

// The active word: what there is to do in the low half, which change this is (31 bits) in the high half; 0 when there is nothing to do.
inline constexpr uint64_t kSessionBits = (1u << kMaxSessions) - 1;
inline constexpr uint64_t kGlobalCallbacksBit = 1u << 4;
inline constexpr uint64_t kLocalCallbacksBit = 1u << 5;
inline constexpr uint64_t kFollowForkBit = 1u << 6;
constexpr uint32_t epochOf(uint64_t word) noexcept { return static_cast<uint32_t>(word >> 32); }

inline constexpr uint32_t kAllScopes = (1u << kNumRecordScopes) - 1;

// A recording in progress.
struct Session {
  capture::Sink* sink = nullptr;
  uint32_t start_epoch = 0;
  bool by_hand = false;  // fed by a RecordQueue, not by scopes
  bool follow_fork = false;
  bool joined_only = false;                // feeds on threads that have joined, not on all
  bool memory = true;                      // wants to know of memory
  bool stacks = false;                     // wants the native stack of every begin
  uint32_t scopes = kAllScopes;            // bits of the RecordScopes that it wants
  uint32_t collected_scopes = kAllScopes;  // the same, or none while collection is switched off
  base::PerfPlan perf{};                   // wants these counters at every begin and end
};

struct ProcessState {
  std::mutex mutex;  // the registry's lock: all below but the atomics
  uint32_t epoch = 0;
  Session sessions[kMaxSessions];
  capture::NameTable names;
  CallbackList global_callbacks;
  uint32_t local_callback_count = 0;
  CallbackEntry* free_entries = nullptr;
  uint64_t next_handle = 1;
  uint32_t lean_ways = 0;
  capture::Sink* retired_sinks = nullptr;  // given up, but a thread was inside when last looked
  bool follow_fork_pending = false;
  void (*follow_fork)() noexcept = nullptr;  // opens the child's own recording; set by whoever asks for it

  std::atomic<ThreadSlot*> slots{nullptr};  // every slot ever made
  std::atomic<uint64_t> next_id{1};
  std::atomic<uint64_t> next_thread{1};
  std::atomic<uint64_t> unattached_drops{0};  // scopes in signal handlers of threads that were just being attached
  std::atomic<int64_t> node_id{-1};
};

extern ProcessState process;

// All of these under process.mutex.
// Counts a change, publishes the active word that goes with it and sends every thread the general way once.
void publishChange() noexcept;
// As NameTable's; every running capture gets what it has not.
uint32_t internString(std::string_view text) noexcept;
void writeSite(const Session& session, uint32_t place, uint32_t id) noexcept;
uint32_t internSite(std::string_view name, std::string_view file, uint32_t line, RecordScope scope) noexcept;
// Gives the slot's thread a place in the session's capture.
void attachWriter(ThreadSlot& slot, uint32_t session) noexcept;

}  // namespace xsigma::profiler::instrument
