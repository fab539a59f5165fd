// profiler_session and its builder: a recording with a report at its end. An older form of Profile (session.h).
#pragma once

#include <cstddef>
#include <iostream>
#include <memory>
#include <string>

#include "xsigma/profiler/export.h"

namespace xsigma {

enum class profiler_output_format {
  CONSOLE,     // the table, for people
  JSON,        // {"averages": …, "peak_memory_bytes": …, "tree": …}
  CSV,         // the table
  STRUCTURED,  // XML: not to be had, build() throws
};

// What the builder was told.
struct profiler_session_options {
  bool timing = true;
  bool memory_tracking = false;
  bool hierarchical_profiling = false;
  bool statistical_analysis = false;
  bool percentiles = false;
  bool peak_memory_tracking = false;
  bool memory_deltas = false;
  size_t max_samples = 0;
  profiler_output_format output_format = profiler_output_format::CONSOLE;
  std::string output_file{};
  bool thread_safety = true;
  size_t thread_pool_size = 0;
};

// Records all threads; one at a time in a process. Where others throw, these calls warn and say false.
class XSIGMA_PROFILER_API profiler_session {
 public:
  ~profiler_session();  // stops it
  profiler_session(const profiler_session&) = delete;
  profiler_session& operator=(const profiler_session&) = delete;

  bool start();
  // Writes the report to the output file, if there is one. False if that fails, or if it was not on.
  bool stop();
  bool is_active() const;
  // The one that is on, or null. For the thread that owns it: any other must be sure that the owner does not destroy it meanwhile.
  static profiler_session* current_session();

  // After stop(), in the output format. Throws ProfilerError if nothing has been recorded.
  std::string generate_report() const;
  void print_report(std::ostream& out = std::cout) const;
  // To the output file if no path is given. Folders are not created.
  bool export_report(const std::string& path = {}) const;
  // By ending: .json, .json.gz.
  bool write_chrome_trace(const std::string& path) const;

 private:
  friend class profiler_session_builder;
  struct State;
  explicit profiler_session(const profiler_session_options& options);
  std::unique_ptr<State> state_;
};

// Everything that is asked for works, or build() throws ProfilerError and names it.
class XSIGMA_PROFILER_API profiler_session_builder {
 public:
  profiler_session_builder& with_timing(bool on = true);                  // always on: false is refused
  profiler_session_builder& with_memory_tracking(bool on = true);         // what allocators report; memory columns in the table
  profiler_session_builder& with_hierarchical_profiling(bool on = true);  // the report has the tree of scopes; not in CSV
  profiler_session_builder& with_statistical_analysis(bool on = true);    // min, median, max, deviation of a call
  profiler_session_builder& with_percentiles(bool on = true);             // … and p95, p99: the same columns
  profiler_session_builder& with_peak_memory_tracking(bool on = true);    // the report has the peak; turns memory on; not in CSV
  profiler_session_builder& with_memory_deltas(bool on = true);           // allocated less released, by scope; turns memory on
  profiler_session_builder& with_max_samples(size_t count);               // only 0, no limit: every call counts
  profiler_session_builder& with_output_format(profiler_output_format format);
  profiler_session_builder& with_output_file(std::string path);      // stop() writes the report there
  profiler_session_builder& with_thread_safety(bool on = true);      // always on: false is refused
  profiler_session_builder& with_thread_pool_size(size_t threads);   // only 0: nothing here has a pool
  std::unique_ptr<profiler_session> build() const;

 private:
  profiler_session_options options_;
};

}  // namespace xsigma
