// The callbacks of a process and of a thread, and how a range finds those that are due.
#pragma once

#include <atomic>
#include <cstdint>

#include "xsigma/profiler/callbacks.h"

namespace xsigma::profiler::instrument {

// One registration. Never freed, since open ranges point to it; recycled with a new handle. Handle 0 = removed.
struct CallbackEntry {
  explicit CallbackEntry(const RecordFunctionCallback& what) : callback(what) {}

  std::atomic<uint64_t> handle{0};
  RecordFunctionCallback callback;
  bool enabled = true;
  std::atomic<bool> complained{false};  // an exception of its was reported
  CallbackEntry* next_free = nullptr;
};

// A growing array in memory that lives as long as the process. Under the registry's lock.
struct CallbackList {
  CallbackEntry** entries = nullptr;
  uint32_t count = 0;
  uint32_t capacity = 0;

  bool add(CallbackEntry* entry) noexcept;
  void removeAt(uint32_t index) noexcept;
  // Index of the handle, or count.
  uint32_t find(CallbackHandle handle) const noexcept;
  bool anyEnabled() const noexcept;
};

// What one thread has to call, made when it notices a change.
struct CallbackStep {
  CallbackEntry* entry;
  uint64_t handle;
  RecordFunctionCallback::StartCallback start;
  RecordFunctionCallback::EndCallback end;
  uint16_t scopes;  // one bit each
  bool needs_inputs;
  bool needs_outputs;
  bool needs_ids;
  double probability;
  uint32_t countdown[kNumRecordScopes];  // ranges until it runs next, when sampled
};

struct CallbackSteps {
  CallbackStep* steps = nullptr;
  uint32_t count = 0;
  uint32_t capacity = 0;
  uint16_t scopes = 0;  // of any step
  uint64_t random = 0;

  void rebuild(const CallbackList& global, const CallbackList& local) noexcept;
  bool wants(RecordScope scope) const noexcept { return (scopes >> static_cast<unsigned>(scope) & 1) != 0; }
  // One step, for every range of its scopes, that wants no ids.
  bool onlyOne() const noexcept { return count == 1 && scopes != 0 && steps[0].probability >= 1.0 && !steps[0].needs_ids; }
  // Whether this step runs for the range at hand; moves its sampling on.
  bool due(CallbackStep& step, RecordScope scope) noexcept {
    if ((step.scopes >> static_cast<unsigned>(scope) & 1) == 0) return false;
    return step.probability >= 1.0 || dueSampled(step, scope);
  }

 private:
  bool dueSampled(CallbackStep& step, RecordScope scope) noexcept;
  uint32_t drawCountdown(double probability) noexcept;
  void append(const CallbackList& list) noexcept;
};

}  // namespace xsigma::profiler::instrument
