// The profiler: enableProfiler, disableProfiler and what comes out.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "xsigma/profiler/device.h"
#include "xsigma/profiler/events.h"
#include "xsigma/profiler/export.h"
#include "xsigma/profiler/key_averages.h"
#include "xsigma/profiler/ledger.h"
#include "xsigma/profiler/memory.h"
#include "xsigma/profiler/observer.h"
#include "xsigma/profiler/record.h"
#include "xsigma/profiler/record_scope.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler {

// One event of a result. Cheap to copy: it looks into the result's table, and keeps it alive.
class XSIGMA_PROFILER_API KinetoEvent {
 public:
  struct Table;  // the library's own

  KinetoEvent(std::shared_ptr<const Table> table, size_t index) : table_(std::move(table)), index_(index) {}

  std::string name() const;
  std::string overload_name() const { return {}; }
  uint64_t startThreadId() const;  // logical: RecordFunction::currentThreadId()
  uint64_t endThreadId() const;
  uint8_t activityType() const;    // a libkineto::ActivityType
  uint64_t fwdThreadId() const;    // 0 without a sequence number
  int64_t sequenceNr() const;      // -1 without
  uint8_t scope() const;           // a RecordScope
  int64_t debugHandle() const;     // -1 without
  bool isAsync() const;
  bool isHiddenEvent() const { return false; }
  bool isFinished() const;         // false: no end was recorded

  int64_t startNs() const;  // CLOCK_REALTIME
  int64_t endNs() const;
  int64_t durationNs() const;

  bool hasShapes() const;
  std::vector<std::vector<int64_t>> shapes() const;  // [] where an input is no tensor
  bool hasTypes() const;
  std::vector<std::string> dtypes() const;
  bool hasConcreteInputs() const;
  std::vector<RecordedInput> concreteInputs() const;
  bool hasKwinputs() const;
  std::unordered_map<std::string, RecordedInput> kwinputs() const;
  uint64_t flops() const;  // 0 unless with_flops, and for what there is no formula

  bool hasStack() const;
  std::vector<std::string> stack() const;  // native frames with with_stack, otherwise the scopes around; innermost first
  bool hasModuleHierarchy() const;
  std::vector<std::string> moduleHierarchy() const;  // outermost first

  DeviceType deviceType() const;
  int deviceIndex() const;           // of an allocation, or of a device's event; otherwise the process id
  int64_t deviceResourceId() const;  // the system's thread, or a stream
  int64_t nBytes() const;            // of an allocation
  uint64_t correlationId() const;
  uint64_t linkedCorrelationId() const;
  std::string backend() const;
  bool isPythonFunction() const { return false; }
  int64_t cudaElapsedUs() const;  // of a scope, with KINETO_GPU_FALLBACK: device time between its two events; otherwise -1
  int64_t privateuse1ElapsedUs() const { return -1; }
  void getPerfEventCounters(std::vector<uint64_t>& counters) const;  // in the order that they were asked for
  std::unordered_map<std::string, std::string> extraMeta() const;
  std::string metadataJson() const;  // "" unless expose_kineto_event_metadata

 private:
  std::shared_ptr<const Table> table_;
  size_t index_;
};

// What a session recorded. Making it cost nothing: events, tree and files are worked out when they are first asked for, once, by whichever
// thread asks.
class XSIGMA_PROFILER_API ProfilerResult {
 public:
  struct State;  // the library's own

  ProfilerResult();  // of nothing: no events; save() throws
  explicit ProfilerResult(std::unique_ptr<State> state);
  ~ProfilerResult();

  int64_t trace_start_ns() const;  // CLOCK_REALTIME
  // By start. Empty with trace_only.
  const std::vector<KinetoEvent>& events() const;
  // Those without a parent, by start.
  const std::vector<std::shared_ptr<Result>>& event_tree() const;
  // By ending: .json, .json.gz, .xst; any other ending = JSON. As often as you like. Throws ProfilerError if it cannot be written.
  void save(const std::string& path) const;
  // The events put together by name and by what else is chosen; keyAverages().table() is for reading.
  KeyAverages keyAverages(const GroupBy& group_by = {}) const;
  // Lines for flame graphs; see exportStacks() of key_averages.h.
  void exportStacks(const std::string& path, std::string_view metric = "self_cpu_time_total") const;
  Ledger ledger() const;
  const Capture& capture() const;
  // False if the assembly deadline cut events() short.
  bool complete() const;

 private:
  std::unique_ptr<State> state_;
};

// A session of these calls: the state that ProfilerStateBase::get() finds while it is on.
class XSIGMA_PROFILER_API KinetoThreadLocalState : public ProfilerStateBase {
 public:
  struct Session;  // the library's own

  KinetoThreadLocalState(ProfilerConfig config, std::shared_ptr<Session> session);
  ~KinetoThreadLocalState() override;
  static std::shared_ptr<KinetoThreadLocalState> get(bool global);
  ActiveProfilerType profilerType() override { return ActiveProfilerType::KINETO; }

  Session& session() { return *session_; }

 private:
  std::shared_ptr<Session> session_;
};

using post_process_t = std::function<void(int64_t debug_handle, std::vector<std::string>& jit_stack, std::vector<std::string>& jit_modules)>;

// Warms up what the session will need, so that its first moments are not slow. Not required: enableProfiler prepares by itself.
XSIGMA_PROFILER_API void prepareProfiler(const ProfilerConfig& config, const std::set<ActivityType>& activities);
// Records the calling thread and those that join, or all threads with profile_all_threads. `scopes`, if not empty, are the only ones recorded.
// Throws ProfilerError: on a thread that is profiled already, without activities, and for anything that cannot be honoured here.
XSIGMA_PROFILER_API void enableProfiler(const ProfilerConfig& config, const std::set<ActivityType>& activities,
                                        const std::unordered_set<RecordScope>& scopes = {});
// As above. The callback is called once for every scope and backend event, when the profiler is disabled, and may change both lists.
XSIGMA_PROFILER_API void enableProfilerWithEventPostProcess(const ProfilerConfig& config, const std::set<ActivityType>& activities,
                                                            post_process_t&& callback, const std::unordered_set<RecordScope>& scopes = {});
// Ends the session, on the thread that began it (any thread for one of all threads). Never null. Throws ProfilerError if there is none.
XSIGMA_PROFILER_API std::unique_ptr<ProfilerResult> disableProfiler();

// Some thread has a session that others can join.
XSIGMA_PROFILER_API bool isProfilerEnabledInMainThread();
// Joins it. On a thread that is in it already, this and leaving are counted and do nothing else.
XSIGMA_PROFILER_API void enableProfilerInChildThread();
XSIGMA_PROFILER_API void disableProfilerInChildThread();

// An event of a backend that runs inside the calling thread's scopes; wall-clock microseconds. Ignored while the thread is not profiled.
XSIGMA_PROFILER_API void reportBackendEventToActiveKinetoProfiler(int64_t start_time_us, int64_t end_time_us, int64_t debug_handle, RecordScope scope,
                                                                  const std::string& event_name, const std::string& backend_name);
// Switches collection off and on again inside a session. Scopes that are open when it goes off get their end.
XSIGMA_PROFILER_API void toggleCollectionDynamic(bool enable, const std::set<ActivityType>& activities);

// A key of the trace's own; the value is JSON. Throws ProfilerError for what is not JSON; warns and does nothing while no profiler is on.
XSIGMA_PROFILER_API void addMetadataJson(const std::string& key, const std::string& value);
// One iteration of the program has passed.
XSIGMA_PROFILER_API void profilerStep();

}  // namespace xsigma::profiler
