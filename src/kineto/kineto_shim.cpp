#include "xsigma/profiler/kineto_shim.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>
#include <optional>

#include "base/json_text.h"
#include "base/log.h"
#include "kineto/captured_trace.h"
#include "kineto/session_state.h"
#include "kineto/trace_config.h"

namespace xsigma::profiler {
namespace {

constexpr uint8_t kOpDomain = 0;
constexpr uint8_t kUserDomain = 1;

// The one trace of these calls.
struct ShimTrace {
  std::mutex mutex;
  std::optional<session::SessionPlan> prepared;
  std::shared_ptr<session::ProfilerSession> run;
};
ShimTrace& shim() {
  static auto& one = *new ShimTrace;
  return one;
}

std::shared_ptr<session::ProfilerSession> shimRun() {
  const std::lock_guard lock(shim().mutex);
  return shim().run;
}

session::SessionPlan planOf(ProfilerConfig config, const std::set<ActivityType>& activities) {
  config.experimental_config.profile_all_threads = true;
  Expected<session::SessionPlan> plan = session::planSession(config, activities, {});
  if (!plan) throw ProfilerError(plan.message());
  return std::move(*plan);
}

void prepare(session::SessionPlan plan) {
  if (const Status status = session::warmUp(plan); !status) throw ProfilerError(status.message());
  const std::lock_guard lock(shim().mutex);
  if (shim().run != nullptr) throw ProfilerError("A trace is running already. Stop it before preparing the next one");
  shim().prepared = std::move(plan);
}

GivenEvent givenEvent(const libkineto::GenericTraceActivity& activity, const std::string& members) {
  GivenEvent event;
  event.start_ns = activity.startTime;
  event.duration_ns = activity.activityType == libkineto::ActivityType::CPU_INSTANT_EVENT ? 0 : activity.duration();
  event.process_id = activity.device;
  event.thread_id = activity.resource;
  event.activity_type = static_cast<int32_t>(activity.activityType);
  event.correlation_id = static_cast<uint32_t>(activity.id);
  event.linked_correlation_id = activity.linked != nullptr ? static_cast<uint64_t>(activity.linked->correlationId()) : 0;
  event.flow_id = activity.flow.id;
  event.flow_type = static_cast<uint8_t>(activity.flow.type);
  event.flow_start = activity.flow.start != 0;
  event.name = activity.activityName;
  event.metadata_json = members;
  return event;
}

}  // namespace

std::shared_ptr<session::ProfilerSession> currentRun() {
  const auto found = [](const std::shared_ptr<ProfilerStateBase>& state) -> std::shared_ptr<session::ProfilerSession> {
    const auto own = std::dynamic_pointer_cast<KinetoThreadLocalState>(state);
    return own != nullptr ? own->session().run : nullptr;
  };
  if (auto run = found(ProfilerStateBase::get())) return run;
  if (auto run = shimRun()) return run;
  return found(joinableState());
}

namespace impl::kineto {

DeviceAndResource kineto_ids() { return {static_cast<int32_t>(getpid()), static_cast<int32_t>(syscall(SYS_gettid))}; }

void addMetadata(activity_t* activity, const std::string& key, const std::string& value) {
  if (activity != nullptr) activity->addMetadata(key, value);
}

TraceWrapper::TraceWrapper(int64_t start_time, const std::string& name) : cpu_trace_(std::make_unique<libkineto::CpuTraceBuffer>()) {
  cpu_trace_->span.startTime = start_time;
  cpu_trace_->gpuOpCount = -1;
  cpu_trace_->span.name = name;
}
TraceWrapper::TraceWrapper(TraceWrapper&&) noexcept = default;
TraceWrapper::~TraceWrapper() = default;

activity_t* TraceWrapper::addCPUActivity(const std::string& name, libkineto::ActivityType type, DeviceAndResource device_and_resource,
                                         uint64_t correlation_id, int64_t start_time, int64_t end_time) {
  if (cpu_trace_ == nullptr) throw ProfilerError("Cannot add event to non-existent trace: it has been handed over. Make a new TraceWrapper");
  cpu_trace_->emplace_activity(cpu_trace_->span, type, name);
  libkineto::GenericTraceActivity& activity = libkineto::CpuTraceBuffer::toRef(cpu_trace_->activities.back());
  activity.device = device_and_resource.device;
  activity.resource = device_and_resource.resource;
  activity.id = static_cast<int32_t>(correlation_id);
  activity.startTime = start_time;
  if (type != libkineto::ActivityType::CPU_INSTANT_EVENT) activity.endTime = end_time;
  return &activity;
}

void TraceWrapper::transferCpuTrace(int64_t end_time) {
  if (cpu_trace_ == nullptr) throw ProfilerError("This trace has been handed over already. Make a new TraceWrapper");
  cpu_trace_->span.endTime = end_time;
  const std::unique_ptr<libkineto::CpuTraceBuffer> buffer = std::move(cpu_trace_);
  const std::shared_ptr<session::ProfilerSession> run = currentRun();
  if (run == nullptr) return base::warn(fmt::format("transferCpuTrace: no trace is running; {} activities are dropped", buffer->activities.size()));
  for (const std::unique_ptr<libkineto::GenericTraceActivity>& activity : buffer->activities) {
    std::string members = activity->metadataJson();
    if (!members.empty() && !base::isJsonMembers(members)) {
      base::warn(fmt::format("transferCpuTrace: the metadata of '{}' is not JSON, and is left out: {}. Quote texts with addMetadataQuoted", activity->activityName,
                             members.substr(0, 200)));
      members.clear();
    }
    run->report(givenEvent(*activity, members));
  }
}

TraceWrapper::operator bool() const { return cpu_trace_ != nullptr; }

ActivityTraceWrapper::ActivityTraceWrapper(std::unique_ptr<interface_trace_t>&& trace) : trace_(std::move(trace)) {}
ActivityTraceWrapper::ActivityTraceWrapper() = default;
ActivityTraceWrapper::ActivityTraceWrapper(ActivityTraceWrapper&&) noexcept = default;
ActivityTraceWrapper& ActivityTraceWrapper::operator=(ActivityTraceWrapper&&) noexcept = default;
ActivityTraceWrapper::~ActivityTraceWrapper() = default;
ActivityTraceWrapper::operator bool() const { return trace_ != nullptr; }

void ActivityTraceWrapper::save(const std::string& path) const {
  if (trace_ == nullptr) throw ProfilerError("Missing trace: there is nothing to save as '" + path + "'. Save the one that stopTrace() returned");
  trace_->save(path);
}

void prepareTrace(bool cpuOnly, const ActivitySet& activities, const ExperimentalConfig& config, const std::string& trace_id) {
  ProfilerConfig wanted(ProfilerState::KINETO);
  wanted.experimental_config = config;
  wanted.trace_id = trace_id;
  ActivitySet kept = activities;
  if (cpuOnly) {
    for (auto at = kept.begin(); at != kept.end();) at = *at == ActivityType::CPU ? std::next(at) : kept.erase(at);
  }
  prepare(planOf(std::move(wanted), kept));
}

void startTrace() {
  const std::lock_guard lock(shim().mutex);
  if (shim().run != nullptr) throw ProfilerError("A trace is running already. Call stopTrace() first");
  session::SessionPlan plan = shim().prepared ? *shim().prepared : planOf(ProfilerConfig(ProfilerState::KINETO), {ActivityType::CPU});
  Expected<std::shared_ptr<session::ProfilerSession>> run = session::ProfilerSession::start(std::move(plan));
  if (!run) throw ProfilerError(run.message());
  shim().prepared.reset();
  shim().run = std::move(*run);
}

ActivityTraceWrapper stopTrace() {
  std::shared_ptr<session::ProfilerSession> run;
  {
    const std::lock_guard lock(shim().mutex);
    run = std::move(shim().run);
  }
  if (run == nullptr) throw ProfilerError("No trace is running. Call startTrace() first");
  return ActivityTraceWrapper(std::make_unique<CapturedTrace>(run->stop(), run->config().experimental_config));
}

void toggleCollectionDynamic(bool enable) {
  if (const auto run = shimRun()) run->setCollecting(enable);
}

void pushCorrelationId(uint64_t correlation_id) {
  if (const auto run = currentRun()) run->pushExternalId(correlation_id, kOpDomain);
}
void pushUserCorrelationId(uint64_t correlation_id) {
  if (const auto run = currentRun()) run->pushExternalId(correlation_id, kUserDomain);
}
void popCorrelationId() {
  if (const auto run = currentRun()) run->popExternalId(kOpDomain);
}
void popUserCorrelationId() {
  if (const auto run = currentRun()) run->popExternalId(kUserDomain);
}

void recordThreadInfo() {
  if (const auto run = currentRun()) run->addThread();
}

bool collectivesProfilerExists() { return false; }

void logInvariantViolation(const std::string& assertion, const std::string& error, const std::string& profile_id, const std::string& group_profile_id) {
  base::warn(fmt::format("invariant violated: {}: {} (profile '{}', group '{}')", assertion, error, profile_id, group_profile_id));
  const auto run = currentRun();
  if (run == nullptr) return;
  run->addMetadata("invariant_violation", fmt::format("{{\"assertion\": {}, \"error\": {}, \"profile_id\": {}, \"group_profile_id\": {}}}", base::quoted(assertion),
                                                      base::quoted(error), base::quoted(profile_id), base::quoted(group_profile_id)));
}

}  // namespace impl::kineto

bool kineto_init(bool, bool) { return true; }

void kineto_prepare_trace(const std::set<ActivityType>& activities, const std::string& config) {
  ProfilerConfig wanted(ProfilerState::KINETO);
  if (const Status status = applyTraceConfig(config, wanted); !status) throw ProfilerError(status.message());
  prepare(planOf(std::move(wanted), activities));
}

void kineto_start_trace() { impl::kineto::startTrace(); }

std::unique_ptr<ActivityTraceWrapper> kineto_stop_trace() { return std::make_unique<ActivityTraceWrapper>(impl::kineto::stopTrace()); }

}  // namespace xsigma::profiler
