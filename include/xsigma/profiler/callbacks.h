// User callbacks at the start and end of every range: registration, handles, guards.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "xsigma/profiler/export.h"
#include "xsigma/profiler/record_scope.h"

namespace xsigma::profiler {

class RecordFunction;

// What a start callback may hand to its end callback. Destroyed on the thread that ends the range.
struct XSIGMA_PROFILER_API ObserverContext {
  virtual ~ObserverContext();

 protected:
  ObserverContext() = default;
};

// A pair of plain function pointers and what they want to see. Both run on the thread of the range.
class XSIGMA_PROFILER_API RecordFunctionCallback {
 public:
  using StartCallback = std::unique_ptr<ObserverContext> (*)(const RecordFunction&);
  using EndCallback = void (*)(const RecordFunction&, ObserverContext*);

  explicit RecordFunctionCallback(StartCallback start, EndCallback end = nullptr);

  RecordFunctionCallback& needsInputs(bool value) { return needs_inputs_ = value, *this; }
  RecordFunctionCallback& needsOutputs(bool value) { return needs_outputs_ = value, *this; }
  RecordFunctionCallback& needsIds(bool value) { return needs_ids_ = value, *this; }
  // The share of ranges, from 0 to 1, for which the callback runs. Anything else throws ProfilerError.
  RecordFunctionCallback& samplingProb(double probability);
  // An empty set means every scope.
  RecordFunctionCallback& scopes(const std::unordered_set<RecordScope>& scopes);

  bool needsInputs() const { return needs_inputs_; }
  bool needsOutputs() const { return needs_outputs_; }
  bool needsIds() const { return needs_ids_; }
  double samplingProb() const { return sampling_prob_; }
  bool checkScope(RecordScope scope) const { return scopes_[static_cast<size_t>(scope)]; }
  StartCallback start() const { return start_; }
  EndCallback end() const { return end_; }

 private:
  StartCallback start_;
  EndCallback end_;
  double sampling_prob_ = 1.0;
  std::array<bool, kNumRecordScopes> scopes_{};
  bool needs_inputs_ = false;
  bool needs_outputs_ = false;
  bool needs_ids_ = false;
};

using CallbackHandle = uint64_t;
inline constexpr CallbackHandle INVALID_CALLBACK_HANDLE = 0;

struct RecordFunctionCallbacksEntry {
  RecordFunctionCallback callback;
  bool enabled = true;
  CallbackHandle handle = INVALID_CALLBACK_HANDLE;
};

// All threads, present and future. Global callbacks run before thread-local ones, each in order of registration.
XSIGMA_PROFILER_API CallbackHandle addGlobalCallback(RecordFunctionCallback callback);
// The calling thread only.
XSIGMA_PROFILER_API CallbackHandle addThreadLocalCallback(RecordFunctionCallback callback);

// Returns when the callback can no longer be called, also for ranges that are open; their contexts are destroyed by their own threads. Called
// from inside that very callback it returns at once. An unknown handle is a warning. Thread-local ones are found from their own thread.
XSIGMA_PROFILER_API void removeCallback(CallbackHandle handle);
XSIGMA_PROFILER_API void disableCallback(CallbackHandle handle);
XSIGMA_PROFILER_API void reenableCallback(CallbackHandle handle);

// True if at least one enabled callback is there. Recording is no callback.
XSIGMA_PROFILER_API bool hasGlobalCallbacks();
XSIGMA_PROFILER_API bool hasThreadLocalCallbacks();
XSIGMA_PROFILER_API bool hasCallbacks();
XSIGMA_PROFILER_API void clearGlobalCallbacks();
XSIGMA_PROFILER_API void clearThreadLocalCallbacks();
XSIGMA_PROFILER_API void clearCallbacks();

// The calling thread's master switch, on unless told: off silences callbacks and recording on this thread.
XSIGMA_PROFILER_API void enableRecordFunction(bool enable = true);
XSIGMA_PROFILER_API bool isRecordFunctionEnabled();

class RecordFunctionGuard {
 public:
  explicit RecordFunctionGuard(bool enable = true) : previous_(isRecordFunctionEnabled()) { enableRecordFunction(enable); }
  ~RecordFunctionGuard() { enableRecordFunction(previous_); }
  RecordFunctionGuard(const RecordFunctionGuard&) = delete;
  RecordFunctionGuard& operator=(const RecordFunctionGuard&) = delete;

 private:
  bool previous_;
};

class DisableRecordFunctionGuard : public RecordFunctionGuard {
 public:
  DisableRecordFunctionGuard() : RecordFunctionGuard(false) {}
};

// The thread-local callbacks and the switch of one thread, to be carried to another.
struct RecordFunctionTLS {
  std::vector<RecordFunctionCallbacksEntry> sorted_tls_callbacks_;
  bool tls_record_function_enabled_ = true;
};

XSIGMA_PROFILER_API RecordFunctionTLS get_record_function_tls_();
XSIGMA_PROFILER_API void set_record_function_tls_(const RecordFunctionTLS& tls);

// Reseeds the calling thread's sampler.
XSIGMA_PROFILER_API void set_record_function_seed_for_testing(uint32_t seed);

}  // namespace xsigma::profiler
