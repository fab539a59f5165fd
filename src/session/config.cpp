#include "xsigma/profiler/observer.h"

namespace xsigma::profiler {

const char* actToString(ActivityType activity) noexcept {
  switch (activity) {
    case ActivityType::CPU: return "CPU";
    case ActivityType::XPU: return "XPU";
    case ActivityType::CUDA: return "CUDA";
    case ActivityType::HPU: return "HPU";
    case ActivityType::MTIA: return "MTIA";
    case ActivityType::PrivateUse1: return "PrivateUse1";
    case ActivityType::NUM_KINETO_ACTIVITIES: break;
  }
  return "(no activity)";
}

const char* toString(ProfilerState state) noexcept {
  switch (state) {
    case ProfilerState::Disabled: return "Disabled";
    case ProfilerState::CPU: return "CPU";
    case ProfilerState::CUDA: return "CUDA";
    case ProfilerState::NVTX: return "NVTX";
    case ProfilerState::ITT: return "ITT";
    case ProfilerState::PRIVATEUSE1: return "PRIVATEUSE1";
    case ProfilerState::KINETO: return "KINETO";
    case ProfilerState::KINETO_GPU_FALLBACK: return "KINETO_GPU_FALLBACK";
    case ProfilerState::KINETO_PRIVATEUSE1_FALLBACK: return "KINETO_PRIVATEUSE1_FALLBACK";
    case ProfilerState::KINETO_ONDEMAND: return "KINETO_ONDEMAND";
    case ProfilerState::NUM_PROFILER_STATES: break;
  }
  return "(no state)";
}

ExperimentalConfig::ExperimentalConfig(std::vector<std::string> metrics, bool measure_per_kernel, bool be_verbose, std::vector<std::string> perf_events,
                                       bool cuda_sync_events, bool adjust_step, bool no_external_correlation, bool all_threads, bool overload_names,
                                       bool python_gc_info, bool expose_metadata, std::string custom_config, bool adjust_times)
    : profiler_metrics(std::move(metrics)),
      profiler_measure_per_kernel(measure_per_kernel),
      verbose(be_verbose),
      performance_events(std::move(perf_events)),
      enable_cuda_sync_events(cuda_sync_events),
      adjust_profiler_step(adjust_step),
      disable_external_correlation(no_external_correlation),
      profile_all_threads(all_threads),
      capture_overload_names(overload_names),
      record_python_gc_info(python_gc_info),
      expose_kineto_event_metadata(expose_metadata),
      custom_profiler_config(std::move(custom_config)),
      adjust_timestamps(adjust_times) {}

ProfilerConfig::ProfilerConfig(ProfilerState profiler_state, bool input_shapes, bool memory, bool stacks, bool flops, bool modules,
                               ExperimentalConfig experimental, std::string id)
    : state(profiler_state),
      report_input_shapes(input_shapes),
      profile_memory(memory),
      with_stack(stacks),
      with_flops(flops),
      with_modules(modules),
      experimental_config(std::move(experimental)),
      trace_id(std::move(id)) {}

}  // namespace xsigma::profiler
