// WorkDecoder: kernels, copies and fills, as activities: each its own, or all of a graph's launch as one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "backends/cupti/device_rows.h"
#include "backends/cupti/graph_runs.h"
#include "backends/cupti/records.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::cupti {

class WorkDecoder {
 public:
  WorkDecoder(DeviceRows& rows, bool whole_graphs, BackendOutput& output)
      : rows_(rows), output_(output), graph_runs_(output), whole_graphs_(whole_graphs) {}

  // Work without times is not over, from now on. Before, CUPTI had no memory on the device to note them in.
  void expectIncomplete() { incomplete_ = true; }
  // False: CUPTI knows no times for it, so that it cannot be shown.
  bool put(const KernelRecord& kernel);
  bool put(const CopyRecord& copy);
  bool put(const FillRecord& fill);
  // A period of the worker has passed.
  void tick() { graph_runs_.tick(); }
  // After the last record.
  void finish() { graph_runs_.finish(); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };

  bool put(const WorkRecord& work, DeviceActivity& activity, const int64_t* values, size_t count);
  bool belongsToWholeGraph(const WorkRecord& work) const { return whole_graphs_ && (work.graph != 0 || work.graph_node != 0); }
  bool putNode(const WorkRecord& work, GraphRuns::Node kind);
  uint32_t kernelName(const char* mangled);

  DeviceRows& rows_;
  BackendOutput& output_;
  // By what they say, not where they lie: an unloaded module's memory is used again.
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> kernel_names_;
  std::unordered_map<uint32_t, uint32_t> copy_names_;
  std::unordered_map<uint32_t, uint32_t> fill_names_;
  std::array<uint32_t, 32> kernel_forms_{};
  std::array<uint32_t, 16> copy_forms_{};
  std::array<uint32_t, 32> factor_names_{};
  GraphRuns graph_runs_;
  bool whole_graphs_;
  bool incomplete_ = false;
};

}  // namespace xsigma::profiler::backends::cupti
