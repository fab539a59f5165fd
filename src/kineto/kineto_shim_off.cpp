// In place of kineto_shim.cpp, where the library is built with XSIGMA_ENABLE_KINETO=OFF: no call pretends.
#include "xsigma/profiler/kineto_shim.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler {
namespace {

constexpr const char* kWhy = ": this library was built with XSIGMA_ENABLE_KINETO=OFF, without traces. Build it with XSIGMA_ENABLE_KINETO=ON";

[[noreturn]] void refuse(const char* call) { throw ProfilerError(std::string(call) + kWhy); }

}  // namespace

namespace impl::kineto {

DeviceAndResource kineto_ids() { return {static_cast<int32_t>(getpid()), static_cast<int32_t>(syscall(SYS_gettid))}; }
void addMetadata(activity_t* activity, const std::string& key, const std::string& value) {
  if (activity != nullptr) activity->addMetadata(key, value);
}
TraceWrapper::TraceWrapper(int64_t, const std::string&) {}
TraceWrapper::TraceWrapper(TraceWrapper&&) noexcept = default;
TraceWrapper::~TraceWrapper() = default;
activity_t* TraceWrapper::addCPUActivity(const std::string&, libkineto::ActivityType, DeviceAndResource, uint64_t, int64_t, int64_t) {
  refuse("TraceWrapper::addCPUActivity");
}
void TraceWrapper::transferCpuTrace(int64_t) { refuse("TraceWrapper::transferCpuTrace"); }
TraceWrapper::operator bool() const { return false; }

ActivityTraceWrapper::ActivityTraceWrapper(std::unique_ptr<interface_trace_t>&& trace) : trace_(std::move(trace)) {}
ActivityTraceWrapper::ActivityTraceWrapper() = default;
ActivityTraceWrapper::ActivityTraceWrapper(ActivityTraceWrapper&&) noexcept = default;
ActivityTraceWrapper& ActivityTraceWrapper::operator=(ActivityTraceWrapper&&) noexcept = default;
ActivityTraceWrapper::~ActivityTraceWrapper() = default;
ActivityTraceWrapper::operator bool() const { return false; }
void ActivityTraceWrapper::save(const std::string&) const { refuse("ActivityTraceWrapper::save"); }

void prepareTrace(bool, const ActivitySet&, const ExperimentalConfig&, const std::string&) { refuse("prepareTrace"); }
void startTrace() { refuse("startTrace"); }
ActivityTraceWrapper stopTrace() { refuse("stopTrace"); }
void toggleCollectionDynamic(bool) { refuse("toggleCollectionDynamic"); }
void pushCorrelationId(uint64_t) {}
void pushUserCorrelationId(uint64_t) {}
void popCorrelationId() {}
void popUserCorrelationId() {}
void recordThreadInfo() {}
bool collectivesProfilerExists() { return false; }
void logInvariantViolation(const std::string& assertion, const std::string& error, const std::string&, const std::string&) {
  base::warn("invariant violated: " + assertion + ": " + error);
}

}  // namespace impl::kineto

bool kineto_init(bool, bool log_on_error) {
  if (log_on_error) base::warn(std::string("kineto_init") + kWhy);
  return false;
}
void kineto_prepare_trace(const std::set<ActivityType>&, const std::string&) { refuse("kineto_prepare_trace"); }
void kineto_start_trace() { refuse("kineto_start_trace"); }
std::unique_ptr<ActivityTraceWrapper> kineto_stop_trace() { refuse("kineto_stop_trace"); }

}  // namespace xsigma::profiler
