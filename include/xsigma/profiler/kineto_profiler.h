// kineto_profiler: profiling from start_profiling() to stop_profiling(), with the trace in a file. An older form of Profile (session.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "xsigma/profiler/export.h"

namespace xsigma {

// Records all threads. Calls may come from any thread. Where others throw, these calls warn and say false.
class XSIGMA_PROFILER_API kineto_profiler {
 public:
  struct profiling_config {
    bool enable_cpu_tracing = true;
    bool enable_gpu_tracing = false;  // alone, start_profiling() fails where no GPU can be watched; beside the CPU it warns
    bool record_shapes = false;
    bool profile_memory = false;
    bool with_stack = false;
    bool with_flops = false;
    bool with_modules = false;
    std::string output_dir = ".";             // created if it is not there
    std::string trace_name = "kineto_trace";  // the file is <output_dir>/<trace_name>.json; later runs: <trace_name>.2.json, …
    std::string trace_id{};                   // random if empty
  };

  // Of one run.
  struct profiling_result {
    bool success = false;
    std::string error_message{};  // why not
    std::string output_file{};    // written and whole; "" without success
    uint64_t activity_count = 0;  // events of the program in it: scopes, instants, counters, allocations
    int64_t duration_ns = 0;      // from start to stop
  };

  // Never null. Initialises the profiler if nobody has.
  static std::unique_ptr<kineto_profiler> create();
  static std::unique_ptr<kineto_profiler> create_with_config(const profiling_config& config);
  // Makes ready what the first run would have to wait for. False, with a warning, where this build cannot profile. Need not be called.
  static bool initialize();
  static bool is_initialized();

  // A run that is on ends without a file.
  ~kineto_profiler();
  kineto_profiler(const kineto_profiler&) = delete;
  kineto_profiler& operator=(const kineto_profiler&) = delete;

  bool start_profiling();
  profiling_result stop_profiling();
  bool is_profiling() const;

  profiling_config get_config() const;
  // For the runs to come. False while one is on.
  bool set_config(const profiling_config& config);

 private:
  struct State;
  explicit kineto_profiler(const profiling_config& config);
  std::unique_ptr<State> state_;
};

}  // namespace xsigma
