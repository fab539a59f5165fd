// KeyAverages: the events of a recording put together by name, shapes, stack or thread: how often, how long, how much memory, how many operations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "xsigma/profiler/capture.h"
#include "xsigma/profiler/device.h"
#include "xsigma/profiler/export.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler {

// Always by name; and by what is chosen here.
struct GroupBy {
  bool input_shapes = false;
  unsigned stack_frames = 0;  // the innermost so many; 0 = not by stack
  bool thread = false;
};

// Of the durations of single calls, in nanoseconds. Percentiles lie between neighbours in proportion; the deviation is that of all calls, not of a sample.
struct Statistics {
  int64_t min = 0;
  int64_t max = 0;
  double mean = 0;
  double median = 0;
  double stddev = 0;
  double p95 = 0;
  double p99 = 0;
};

// One row. Times never count a moment of a thread twice: where a scope calls itself, its total is that of the outermost call, so that the average of a call
// times the number of calls may exceed it.
struct KeyAverage {
  std::string name;                     // "ProfilerStep*" for all steps; "[memory]" for allocations outside every scope
  std::string input_shapes;             // "[[64, 32], []]"; empty unless grouped by it
  std::vector<std::string> stack;       // innermost first; empty unless grouped by it
  std::string thread;                   // its name, or its id where it has none; empty unless grouped by it
  DeviceType device = DeviceType::CPU;  // where it ran
  bool is_user_annotation = false;
  bool is_async = false;      // may overlap others of its thread: has a total, but takes no thread's time by itself
  bool is_top_level = false;  // some call ran outside every other scope
  uint64_t calls = 0;
  uint64_t unfinished = 0;  // of the calls: counted until the end of the recording

  int64_t self_cpu_ns = 0;      // without the scopes inside it
  int64_t cpu_total_ns = 0;     // with them
  int64_t self_device_ns = 0;   // what a device did for it, moments of overlap counted once
  int64_t device_total_ns = 0;  // … and for the scopes inside it
  int64_t self_cpu_bytes = 0;   // allocated less released
  int64_t cpu_bytes = 0;
  int64_t self_device_bytes = 0;
  int64_t device_bytes = 0;
  uint64_t flops = 0;
  Statistics durations;
};

struct TableOptions {
  // self_cpu_time_total, cpu_time_total, cpu_time, self_device_time_total, device_time_total, device_time, self_cpu_memory_usage, cpu_memory_usage,
  // self_device_memory_usage, device_memory_usage, count, flops, min, max, median, stddev, p95, p99, name. A device's own word does for "device":
  // self_cuda_time_total. Largest first; names from A to Z. Empty: in the order in which they first ran.
  std::string sort_by = "self_cpu_time_total";
  int row_limit = 100;  // -1 = all
  int max_name_column_width = 55;
  int max_shapes_column_width = 80;
  int max_src_column_width = 75;
  std::string header;                  // a line above
  bool top_level_events_only = false;  // only those that ran outside every other scope
  bool statistics = false;             // min, median, p95, p99, max and deviation of a call as well
};

// Immutable; any thread may read it.
class XSIGMA_PROFILER_API KeyAverages {
 public:
  struct Contents;  // the library's own

  KeyAverages();  // of nothing
  explicit KeyAverages(std::shared_ptr<const Contents> contents);

  // In the order in which they first ran.
  const std::vector<KeyAverage>& rows() const&;
  std::vector<KeyAverage> rows() && { return static_cast<const KeyAverages&>(*this).rows(); }  // they outlive a temporary
  // The only one of that name, or the first of several. Throws ProfilerError if there is none.
  const KeyAverage& at(std::string_view name) const&;
  KeyAverage at(std::string_view name) && { return static_cast<const KeyAverages&>(*this).at(name); }

  int64_t selfCpuTotalNs() const;  // of all rows: the time in which threads were inside scopes
  int64_t deviceBusyNs() const;    // the time in which devices did something
  int64_t wallNs() const;          // from start to stop, of all recordings that went in
  uint64_t threads() const;        // that were recorded, or that events were given for
  uint64_t unfinished() const;
  uint64_t lost() const;           // scopes that were dropped: they are in no row
  uint64_t lostOfDevices() const;  // records of devices that were dropped

  // For people. Throws ProfilerError for a sort_by that it does not know.
  std::string table(const TableOptions& options = {}) const;
  // All columns, rows as table() would order them; times in nanoseconds.
  std::string csv(std::string_view sort_by = "self_cpu_time_total") const;
  std::string json(std::string_view sort_by = "self_cpu_time_total") const;
  // By ending: .csv, .json, with all rows; any other ending gets the table, all of it or as the options say. Throws ProfilerError if it cannot be written.
  void save(const std::string& path) const;
  void save(const std::string& path, const TableOptions& options) const;

 private:
  std::shared_ptr<const Contents> contents_;
};

XSIGMA_PROFILER_API KeyAverages keyAverages(const Capture& capture, const GroupBy& group_by = {});
// Of several recordings of one program, such as the cycles of a schedule.
XSIGMA_PROFILER_API KeyAverages keyAverages(const std::vector<Capture>& captures, const GroupBy& group_by = {});

// Writes what flame graphs are made of: a line for each stack, outermost first, joined by ";", and the microseconds spent in it. A stack is
// the native frames at the begin of a scope where those were recorded, otherwise the scopes around it; and the scope itself. The metric is self_cpu_time_total or self_device_time_total (or with the device's own word).
// Throws ProfilerError if it cannot be written.
XSIGMA_PROFILER_API void exportStacks(const Capture& capture, const std::string& path, std::string_view metric = "self_cpu_time_total");

}  // namespace xsigma::profiler
