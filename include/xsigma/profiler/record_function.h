// RecordFunction: a range with inputs, sequence number and observers; and the XSIGMA_RECORD_* macros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "xsigma/profiler/callbacks.h"
#include "xsigma/profiler/input_value.h"
#include "xsigma/profiler/scope.h"

namespace xsigma::profiler {

using KeywordList = std::vector<KeywordValue>;

// One range: constructed, begun with before(), ended with end() or by destruction. Not copyable. While nobody listens it does nothing.
// An async range may be ended by another thread than it was begun by.
class XSIGMA_PROFILER_API RecordFunction {
 public:
  explicit RecordFunction(RecordScope scope = RecordScope::FUNCTION) noexcept : scope_(scope) {
    if (detail::anyoneListens()) activate();
  }
  ~RecordFunction() {
    if (XSIGMA_PROFILER_UNLIKELY(active_)) finish();
  }
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;

  // Somebody wants to see this range; before() is worth its arguments.
  bool isActive() const noexcept { return active_; }
  bool needsInputs() const noexcept;
  bool needsOutputs() const noexcept;

  // Begins the range. Inputs are borrowed for the call and visible to start callbacks only.
  void before(std::string_view name, int64_t sequence_nr = -1) noexcept;
  void before(std::string_view name, InputList inputs, int64_t sequence_nr = -1) noexcept;
  void before(std::string_view name, const KeywordList& kwinputs, int64_t sequence_nr = -1) noexcept;
  void before(std::string_view name, InputList inputs, const KeywordList& kwinputs, int64_t sequence_nr = -1) noexcept;
  // Ends the range: once; later calls do nothing.
  void end() noexcept;
  // Copies the outputs, for end callbacks and the recording.
  void setOutputs(InputList outputs);

  const char* name() const noexcept;
  const char* overload_name() const noexcept { return ""; }
  RecordScope scope() const noexcept { return scope_; }
  int64_t seqNr() const noexcept;
  InputList inputs() const noexcept;
  const KeywordList& kwinputs() const noexcept;
  InputList outputs() const noexcept;
  size_t num_inputs() const noexcept { return inputs().size(); }
  size_t num_outputs() const noexcept { return outputs().size(); }

  // Logical id of the thread that began the range.
  uint64_t threadId() const noexcept;
  // For a backward range: the logical thread of its forward range, 0 if unset. Set it before before().
  uint64_t forwardThreadId() const noexcept;
  void setForwardThreadId(uint64_t thread_id) noexcept;
  // Unique id of the range, the same as in the trace; 0 unless it is recorded or a callback needs ids.
  uint64_t handle() const noexcept;
  void setHandle(uint64_t handle) noexcept;
  // When the recorded begin was, in ticks of the capture's clock: for end callbacks that tell of the range. 0 if it is not recorded.
  uint64_t beginTicks() const noexcept;
  int64_t debugHandle() const noexcept;
  void setDebugHandle(int64_t debug_handle) noexcept;

  void _setAsync() noexcept;
  bool isAsync() const noexcept;
  void _setStaticRuntimeOutVariant() noexcept;
  bool isStaticRuntimeOutVariant() const noexcept;
  // The range is the metadata of a collective (its name is record_param_comms).
  bool isNcclMeta() const noexcept;

  // Small id of the calling thread: 1, 2, 3… by first use, never reused.
  static uint64_t currentThreadId() noexcept;
  // Which node of a distributed job this is; -1 until set. A negative id throws ProfilerError.
  static void setDefaultNodeId(int64_t node_id);
  static int64_t getDefaultNodeId() noexcept;

 private:
  friend struct RecordFunctionState;
  struct Dormant {};

  RecordFunction(RecordScope scope, Dormant) noexcept : scope_(scope) {}
  void activate() noexcept;
  void finish() noexcept;

  RecordScope scope_;
  bool active_ = false;
  alignas(8) unsigned char state_[376];  // the library's own, alive while active_
};

// This thread's counter for linking forward and backward ranges.
XSIGMA_PROFILER_API uint64_t peekSequenceNr() noexcept;
XSIGMA_PROFILER_API uint64_t nextSequenceNr() noexcept;

namespace detail {

// The RecordFunction of a macro: innermost of its thread, so that XSIGMA_RECORD_OUTPUTS finds it.
class XSIGMA_PROFILER_API ScopedRecordFunction : public RecordFunction {
 public:
  explicit ScopedRecordFunction(RecordScope scope) noexcept : RecordFunction(scope) {
    if (XSIGMA_PROFILER_UNLIKELY(isActive())) enter();
  }
  ~ScopedRecordFunction() {
    if (XSIGMA_PROFILER_UNLIKELY(isActive())) leave();
  }

  // What the macros call, once the range is known to be active: inputs are passed on only to those who need them.
  void begin(std::string_view name) noexcept { before(name); }
  template <typename... Rest>
  void begin(std::string_view name, InputList inputs, Rest&&... rest) noexcept {
    if (needsInputs()) {
      before(name, inputs, static_cast<Rest&&>(rest)...);
    } else {
      before(name, static_cast<Rest&&>(rest)...);
    }
  }
  template <typename... Rest>
  void beginWithOutputs(std::string_view name, InputList inputs, InputList outputs, Rest&&... rest) {
    begin(name, inputs, static_cast<Rest&&>(rest)...);
    if (needsOutputs()) setOutputs(outputs);
  }
  template <typename... Rest>
  void beginWithDebugHandle(std::string_view name, int64_t debug_handle, InputList inputs, Rest&&... rest) noexcept {
    setDebugHandle(debug_handle);
    begin(name, inputs, static_cast<Rest&&>(rest)...);
  }
  static void setInnermostOutputs(InputList outputs);

 private:
  void enter() noexcept;
  void leave() noexcept;

  ScopedRecordFunction* enclosing_;
};

}  // namespace detail
}  // namespace xsigma::profiler

#if defined(XSIGMA_PROFILER_DISABLE)

#define XSIGMA_PROFILER_RECORD(method, scope, ...) static_cast<void>(0)
#define XSIGMA_RECORD_OUTPUTS(outputs) static_cast<void>(0)

#else

#define XSIGMA_PROFILER_RECORD_(var, method, scope, ...)       \
  ::xsigma::profiler::detail::ScopedRecordFunction var(scope); \
  if (var.isActive()) var.method(__VA_ARGS__)
#define XSIGMA_PROFILER_RECORD(method, scope, ...) \
  XSIGMA_PROFILER_RECORD_(XSIGMA_PROFILER_JOIN(xsigma_profiler_function_, __COUNTER__), method, scope, __VA_ARGS__)

// Outputs of the innermost XSIGMA_RECORD_* range of this thread.
#define XSIGMA_RECORD_OUTPUTS(outputs) ::xsigma::profiler::detail::ScopedRecordFunction::setInnermostOutputs(outputs)

#endif

// (scope, name, inputs[, keyword arguments][, sequence number]); the others take the same optional last arguments.
#define XSIGMA_RECORD_FUNCTION_WITH_SCOPE(scope, ...) XSIGMA_PROFILER_RECORD(begin, scope, __VA_ARGS__)
#define XSIGMA_RECORD_FUNCTION(...) XSIGMA_PROFILER_RECORD(begin, ::xsigma::profiler::RecordScope::FUNCTION, __VA_ARGS__)
// (scope, name, inputs, outputs, …)
#define XSIGMA_RECORD_FUNCTION_WITH_SCOPE_INPUTS_OUTPUTS(scope, ...) XSIGMA_PROFILER_RECORD(beginWithOutputs, scope, __VA_ARGS__)
#define XSIGMA_RECORD_FUNCTION_WITH_INPUTS_OUTPUTS(...) \
  XSIGMA_PROFILER_RECORD(beginWithOutputs, ::xsigma::profiler::RecordScope::FUNCTION, __VA_ARGS__)
#define XSIGMA_RECORD_TORCHSCRIPT_FUNCTION(name, inputs) \
  XSIGMA_PROFILER_RECORD(begin, ::xsigma::profiler::RecordScope::TORCHSCRIPT_FUNCTION, name, inputs)
#define XSIGMA_RECORD_USER_SCOPE(name) XSIGMA_PROFILER_RECORD(begin, ::xsigma::profiler::RecordScope::USER_SCOPE, name)
#define XSIGMA_RECORD_USER_SCOPE_WITH_INPUTS(name, inputs) \
  XSIGMA_PROFILER_RECORD(begin, ::xsigma::profiler::RecordScope::USER_SCOPE, name, inputs)
#define XSIGMA_RECORD_USER_SCOPE_WITH_KWARGS_ONLY(name, kwargs) \
  XSIGMA_PROFILER_RECORD(before, ::xsigma::profiler::RecordScope::USER_SCOPE, name, kwargs)
// (scope, name, debug handle, inputs, …)
#define XSIGMA_RECORD_WITH_SCOPE_DEBUG_HANDLE_AND_INPUTS(scope, ...) XSIGMA_PROFILER_RECORD(beginWithDebugHandle, scope, __VA_ARGS__)
#define XSIGMA_RECORD_EDGE_SCOPE_WITH_DEBUG_HANDLE_AND_INPUTS(...) \
  XSIGMA_PROFILER_RECORD(beginWithDebugHandle, ::xsigma::profiler::RecordScope::LITE_INTERPRETER, __VA_ARGS__)
