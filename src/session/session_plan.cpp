#include <fmt/format.h>

#include <algorithm>

#include "base/perf_counters.h"
#include "collect/options.h"
#include "session/session_plan.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::session {
namespace {

Status refused(std::string_view what, std::string_view why) {
  return {StatusCode::unsupported, fmt::format("{} was asked for, and cannot be honoured here: {}", what, why)};
}

// States that are another way of saying KINETO, and those that need a part which is not in this build.
Status translateState(SessionPlan& plan) {
  switch (plan.config.state) {
    case ProfilerState::CPU:
      plan.config.state = ProfilerState::KINETO;
      plan.activities = {ActivityType::CPU};
      return {};
    case ProfilerState::CUDA:
      plan.config.state = ProfilerState::KINETO;
      plan.activities = {ActivityType::CPU, ActivityType::CUDA};
      return {};
    case ProfilerState::KINETO_GPU_FALLBACK:  // the same, but for who watches the device
    case ProfilerState::KINETO:
    case ProfilerState::KINETO_ONDEMAND: return {};
    case ProfilerState::Disabled:
      return {StatusCode::invalid_argument, "ProfilerState::Disabled asks for no profiler at all. Use ProfilerState::KINETO, or do not call enableProfiler"};
    case ProfilerState::ITT:
    case ProfilerState::NVTX: return refused(fmt::format("ProfilerState::{}", toString(plan.config.state)), "this build has no such emitter. Use KINETO");
    case ProfilerState::PRIVATEUSE1:
    case ProfilerState::KINETO_PRIVATEUSE1_FALLBACK:
      return refused(fmt::format("ProfilerState::{}", toString(plan.config.state)), "no device backend of that kind is in this build. Use KINETO with {ActivityType::CPU}");
    default: break;
  }
  return {StatusCode::invalid_argument, fmt::format("{} is no ProfilerState. Use ProfilerState::KINETO", static_cast<int>(plan.config.state))};
}

bool hasBackend(ActivityType activity) {
  const std::vector<Backend*>& all = allBackends();
  return std::any_of(all.begin(), all.end(), [&](const Backend* each) { return each->device() == actToString(activity); });
}

Status checkActivities(const SessionPlan& plan) {
  if (plan.activities.empty()) {
    return {StatusCode::invalid_argument, "No activities specified. Name at least one, such as {ActivityType::CPU}"};
  }
  for (const ActivityType activity : plan.activities) {
    if (activity != ActivityType::CPU && !hasBackend(activity)) {
      return refused(fmt::format("ActivityType::{}", actToString(activity)), "no backend for that device is in this build. Leave it out");
    }
  }
  return {};
}

Status checkExperimental(const SessionPlan& plan) {
  const ProfilerConfig& config = plan.config;
  const ExperimentalConfig& wanted = config.experimental_config;
  const bool device = plan.activities.size() > plan.activities.count(ActivityType::CPU);
  constexpr std::string_view kNoGpu = "no device is among the activities. Add ActivityType::CUDA";
  constexpr std::string_view kNoPython = "there are no Python events in a C++ program. Leave it out";
  if (!device && !wanted.profiler_metrics.empty()) return refused("ExperimentalConfig::profiler_metrics", kNoGpu);
  if (!device && wanted.profiler_measure_per_kernel) return refused("ExperimentalConfig::profiler_measure_per_kernel", kNoGpu);
  if (!device && wanted.enable_cuda_sync_events) return refused("ExperimentalConfig::enable_cuda_sync_events", kNoGpu);
  if (wanted.profiler_metrics.empty() && wanted.profiler_measure_per_kernel) {
    return refused("ExperimentalConfig::profiler_measure_per_kernel", "there is nothing to measure. Name counters in profiler_metrics");
  }
  if (wanted.profiler_metrics.empty() && wanted.profiler_sample_interval.count() != 0) {
    return refused("ExperimentalConfig::profiler_sample_interval", "there is nothing to sample. Name counters in profiler_metrics");
  }
  if (wanted.profiler_sample_interval.count() < 0) return refused("ExperimentalConfig::profiler_sample_interval below zero", "time does not go back. Use 0 for no samples");
  if (wanted.adjust_profiler_step) return refused("ExperimentalConfig::adjust_profiler_step", kNoPython);
  if (wanted.record_python_gc_info) return refused("ExperimentalConfig::record_python_gc_info", kNoPython);
  if (wanted.capture_overload_names) return refused("ExperimentalConfig::capture_overload_names", "ranges of this library have no overload names. Leave it out");
  if (wanted.adjust_timestamps) return refused("ExperimentalConfig::adjust_timestamps", "there are no Vulkan events here. Leave it out");
  if (!wanted.custom_profiler_config.empty()) return refused("ExperimentalConfig::custom_profiler_config", "no backend that takes text is in this build. Leave it empty");
  if (wanted.trace_only && config.with_stack) return refused("ExperimentalConfig::trace_only with with_stack", "as in PyTorch, the two do not go together. Drop one of them");
  if (wanted.assembly_deadline.count() < 0) return refused("ExperimentalConfig::assembly_deadline below zero", "time does not go back. Use 0 for no deadline");
  return base::checkPerfEvents(wanted.performance_events);
}

}  // namespace

Expected<SessionPlan> planSession(const ProfilerConfig& config, const std::set<ActivityType>& activities, const std::unordered_set<RecordScope>& scopes) {
  SessionPlan plan{config, activities, scopes};
  if (Status status = translateState(plan); !status) return status;
  if (Status status = checkActivities(plan); !status) return status;
  if (Status status = checkExperimental(plan); !status) return status;
  for (const RecordScope scope : scopes) {
    if (scope >= RecordScope::NUM_SCOPES) {
      return Status(StatusCode::invalid_argument, fmt::format("{} is no RecordScope. Use values below NUM_SCOPES", static_cast<int>(scope)));
    }
  }
  Expected<CaptureOptions> options = collect::withEnvironment(plan.config.experimental_config.capture);
  if (!options) return options.status();
  if (Status status = collect::checkOptions(*options); !status) return status;
  if (options->follow_fork) return refused("ExperimentalConfig::capture.follow_fork", "a child would record all of its threads, whatever this session was asked for. Use startRecording");
  plan.config.experimental_config.capture = std::move(*options);
  if (plan.config.with_flops) plan.config.report_input_shapes = true;  // they are worked out from shapes
  return plan;
}

}  // namespace xsigma::profiler::session
