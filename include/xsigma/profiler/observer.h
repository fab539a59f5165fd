// What a profiling session is asked for: states, activities, configuration; and the state of a session that is on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "xsigma/profiler/callbacks.h"
#include "xsigma/profiler/capture.h"
#include "xsigma/profiler/export.h"

namespace xsigma::profiler {

enum class ActivityType {
  CPU = 0,
  XPU,
  CUDA,
  HPU,
  MTIA,
  PrivateUse1,
  NUM_KINETO_ACTIVITIES,  // must be the last one
};

// "CPU", "XPU" and so on.
XSIGMA_PROFILER_API const char* actToString(ActivityType activity) noexcept;

enum class ProfilerState {
  Disabled = 0,
  CPU,                          // as KINETO with {CPU}
  CUDA,                         // as KINETO with {CPU, CUDA}
  NVTX,                         // tells NVTX about ranges; records nothing
  ITT,                          // tells ITT about ranges; records nothing
  PRIVATEUSE1,                  // tells a custom backend about ranges; records nothing
  KINETO,                       // the normal one
  KINETO_GPU_FALLBACK,          // device time by events around each op
  KINETO_PRIVATEUSE1_FALLBACK,  // the same with a custom backend
  KINETO_ONDEMAND,              // started from outside; all threads
  NUM_PROFILER_STATES,          // must be the last one
};

XSIGMA_PROFILER_API const char* toString(ProfilerState state) noexcept;

enum class ActiveProfilerType {
  NONE = 0,
  LEGACY,
  KINETO,
  NVTX,
  ITT,
  PRIVATEUSE1,
};

// What is off in most sessions. Every field works, or enableProfiler throws and names it.
struct XSIGMA_PROFILER_API ExperimentalConfig {
  ExperimentalConfig() = default;
  ExperimentalConfig(std::vector<std::string> metrics, bool measure_per_kernel = false, bool be_verbose = false,
                     std::vector<std::string> perf_events = {}, bool cuda_sync_events = false, bool adjust_step = false,
                     bool no_external_correlation = false, bool all_threads = false, bool overload_names = false, bool python_gc_info = false,
                     bool expose_metadata = false, std::string custom_config = {}, bool adjust_times = false);

  std::vector<std::string> profiler_metrics;      // hardware counters of a GPU; at most 256
  bool profiler_measure_per_kernel = false;       // … per kernel instead of per range
  bool verbose = false;                           // the source place of every scope goes into the trace
  std::vector<std::string> performance_events;    // counters of the CPU per scope: cycles, instructions, pagefaults, …; at most 4
  bool enable_cuda_sync_events = false;
  bool adjust_profiler_step = false;              // needs Python events
  bool disable_external_correlation = false;      // device work is not linked to scopes
  bool profile_all_threads = false;               // not only the calling thread and those that join
  bool capture_overload_names = false;            // operators of C++ have none
  bool record_python_gc_info = false;             // needs Python
  bool expose_kineto_event_metadata = false;      // KinetoEvent::metadataJson() is filled
  std::string custom_profiler_config;             // text for a backend
  bool adjust_timestamps = false;                 // of Vulkan events
  bool trace_only = false;                        // no events() and no tree, only save()
  bool whole_graphs = false;                      // the launch of a CUDA graph is one event, instead of one for each node
  std::chrono::microseconds profiler_sample_interval{0};  // profiler_metrics as samples over time, so often; 0 = of ranges or kernels
  CaptureOptions capture{};                       // where it is recorded, and how much
  std::chrono::nanoseconds assembly_deadline{0};  // events(), event_tree() and save() give what is there after so long; 0 = no deadline

  explicit operator bool() const { return !profiler_metrics.empty(); }
};

struct XSIGMA_PROFILER_API ProfilerConfig {
  explicit ProfilerConfig(ProfilerState profiler_state, bool input_shapes = false, bool memory = false, bool stacks = false, bool flops = false,
                          bool modules = false, ExperimentalConfig experimental = {}, std::string id = {});

  bool disabled() const { return state == ProfilerState::Disabled; }
  bool global() const { return state == ProfilerState::KINETO_ONDEMAND; }
  // Every thread is recorded, and the session belongs to none.
  bool pushGlobalCallbacks() const { return global() || experimental_config.profile_all_threads; }

  ProfilerState state;
  bool report_input_shapes;
  bool profile_memory;
  bool with_stack;    // native frames, at most 64; without it a stack is the scopes around
  bool with_flops;    // needs shapes, and turns them on
  bool with_modules;  // the CUSTOM_CLASS scopes around
  ExperimentalConfig experimental_config;
  std::string trace_id;
};

// A session that is on: a thread's own, or the one of all threads.
class XSIGMA_PROFILER_API ProfilerStateBase {
 public:
  explicit ProfilerStateBase(ProfilerConfig config);
  virtual ~ProfilerStateBase();
  ProfilerStateBase(const ProfilerStateBase&) = delete;
  ProfilerStateBase& operator=(const ProfilerStateBase&) = delete;

  // Of all threads, or of the calling one. Null if there is none, or none that is still on.
  static std::shared_ptr<ProfilerStateBase> get(bool global);
  static std::shared_ptr<ProfilerStateBase> get();
  // Throws ProfilerError if there is one already.
  static void push(std::shared_ptr<ProfilerStateBase> state);
  static std::shared_ptr<ProfilerStateBase> pop(bool global);
  static std::shared_ptr<ProfilerStateBase> pop();
  // That one and no other. False if it is neither the calling thread's nor that of all threads.
  static bool remove(const std::shared_ptr<ProfilerStateBase>& state);

  const ProfilerConfig& config() const { return config_; }
  bool memoryProfilingEnabled() const { return config_.profile_memory; }
  virtual ActiveProfilerType profilerType() = 0;

  // A callback that lives as long as the session; a second one replaces the first.
  void setCallbackHandle(CallbackHandle handle);
  void removeCallback();
  bool hasCallbackHandle();

  // The session is over: threads that joined and have not left are in it no longer.
  void finish() noexcept { finished_ = true; }

 protected:
  std::mutex state_mutex_;
  ProfilerConfig config_;
  CallbackHandle handle_ = INVALID_CALLBACK_HANDLE;
  std::atomic<bool> finished_{false};
  int process_id_;  // a forked child has a copy that is not its own
};

// About the session that the calling thread is in, its own or that of all threads.
XSIGMA_PROFILER_API bool profilerEnabled();
XSIGMA_PROFILER_API ActiveProfilerType profilerType();
// Throws ProfilerError if there is none.
XSIGMA_PROFILER_API ProfilerConfig getProfilerConfig();

}  // namespace xsigma::profiler
