// The thin layer of PyTorch's kineto_shim, and the flat kineto_* calls: traces of all threads, begun and ended by hand.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "kineto/ActivityTraceInterface.h"
#include "kineto/ActivityType.h"
#include "kineto/CpuTraceBuffer.h"
#include "kineto/GenericTraceActivity.h"
#include "xsigma/profiler/device.h"
#include "xsigma/profiler/export.h"
#include "xsigma/profiler/observer.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler {
namespace impl::kineto {

#if defined(XSIGMA_HAS_KINETO) && XSIGMA_HAS_KINETO
inline constexpr bool kKinetoAvailable = true;
#else
inline constexpr bool kKinetoAvailable = false;
#endif

using ActivitySet = std::set<ActivityType>;
using activity_t = libkineto::GenericTraceActivity;
using interface_trace_t = libkineto::ActivityTraceInterface;

struct DeviceAndResource {
  int32_t device = 0;    // process
  int32_t resource = 0;  // system thread
};
// Of the calling thread.
XSIGMA_PROFILER_API DeviceAndResource kineto_ids();

// The value is JSON.
XSIGMA_PROFILER_API void addMetadata(activity_t* activity, const std::string& key, const std::string& value);

// Activities that the caller has collected, and hands over as a whole.
class XSIGMA_PROFILER_API TraceWrapper {
 public:
  TraceWrapper(int64_t start_time, const std::string& name);
  TraceWrapper(TraceWrapper&&) noexcept;
  ~TraceWrapper();

  // Times in ns of the wall clock. The activity belongs to the wrapper; it may be filled in until the hand-over. Throws ProfilerError after it.
  activity_t* addCPUActivity(const std::string& name, libkineto::ActivityType type, DeviceAndResource device_and_resource, uint64_t correlation_id,
                             int64_t start_time, int64_t end_time);
  // To the trace that is running; without one they are dropped, with a warning.
  void transferCpuTrace(int64_t end_time);
  explicit operator bool() const;

 private:
  std::unique_ptr<libkineto::CpuTraceBuffer> cpu_trace_;
};

// A finished trace.
class XSIGMA_PROFILER_API ActivityTraceWrapper {
 public:
  explicit ActivityTraceWrapper(std::unique_ptr<interface_trace_t>&& trace);
  ActivityTraceWrapper();
  ActivityTraceWrapper(ActivityTraceWrapper&&) noexcept;
  ActivityTraceWrapper& operator=(ActivityTraceWrapper&&) noexcept;
  ~ActivityTraceWrapper();

  explicit operator bool() const;
  // By ending, as ProfilerResult::save; as often as you like. Throws ProfilerError.
  void save(const std::string& path) const;
  const std::unique_ptr<interface_trace_t>& get() const { return trace_; }

 private:
  std::unique_ptr<interface_trace_t> trace_;
};

// One trace at a time, of all threads. startTrace() prepares by itself if nobody has. All throw ProfilerError where they cannot do what they say.
XSIGMA_PROFILER_API void prepareTrace(bool cpuOnly, const ActivitySet& activities, const ExperimentalConfig& config = {}, const std::string& trace_id = {});
XSIGMA_PROFILER_API void startTrace();
XSIGMA_PROFILER_API ActivityTraceWrapper stopTrace();
XSIGMA_PROFILER_API void toggleCollectionDynamic(bool enable);

// What happens on this thread until the pop belongs to the id. Nothing happens while no trace runs.
XSIGMA_PROFILER_API void pushCorrelationId(uint64_t correlation_id);
XSIGMA_PROFILER_API void pushUserCorrelationId(uint64_t correlation_id);
XSIGMA_PROFILER_API void popCorrelationId();
XSIGMA_PROFILER_API void popUserCorrelationId();
// The calling thread has a row in the trace from now on.
XSIGMA_PROFILER_API void recordThreadInfo();
// Whether somebody collects collectives; nobody does.
XSIGMA_PROFILER_API bool collectivesProfilerExists();
// Warns, and leaves a note in the trace that is running.
XSIGMA_PROFILER_API void logInvariantViolation(const std::string& assertion, const std::string& error, const std::string& profile_id,
                                               const std::string& group_profile_id);

}  // namespace impl::kineto

using ActivityTraceWrapper = impl::kineto::ActivityTraceWrapper;

// The same in four flat calls. kineto_init says whether traces can be made; it need not be called.
XSIGMA_PROFILER_API bool kineto_init(bool cpu_only = false, bool log_on_error = true);
// `config` has lines KEY=VALUE of libkineto's: REQUEST_TRACE_ID, PROFILE_REPORT_INPUT_SHAPES, PROFILE_PROFILE_MEMORY, PROFILE_WITH_STACK,
// PROFILE_WITH_FLOPS, PROFILE_WITH_MODULES. Anything else throws ProfilerError.
XSIGMA_PROFILER_API void kineto_prepare_trace(const std::set<ActivityType>& activities = {ActivityType::CPU}, const std::string& config = {});
XSIGMA_PROFILER_API void kineto_start_trace();
XSIGMA_PROFILER_API std::unique_ptr<ActivityTraceWrapper> kineto_stop_trace();

}  // namespace xsigma::profiler
