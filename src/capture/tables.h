// Tables: the names, places and threads of a capture, as read from its table blocks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/block_walk.h"
#include "capture/format.h"
#include "capture/name_table.h"
#include "xsigma/profiler/capture.h"

namespace xsigma::profiler::capture {

struct ThreadTable {
  ThreadInfo info;
  bool known = false;
  uint64_t begins_closed = 0;
  uint64_t extras_dropped = 0;
  std::array<uint64_t, kLossCauses> causes{};
};

class Tables {
 public:
  explicit Tables(uint64_t capture_bytes) : most_threads_(capture_bytes / sizeof(ThreadRecord)) {}

  // Takes in a table block; damaged records are left out and named.
  void add(const BlockCopy& block, Damages& damages);
  // After the last block: names of threads can be looked up only then.
  void finish();

  // A place in the source with its texts; views live as long as the tables.
  struct ResolvedSite {
    std::string_view name;
    std::string_view file;
    uint32_t line = 0;
    RecordScope scope = RecordScope::FUNCTION;
  };
  // After finish(). Null if the capture does not have it.
  const ResolvedSite* site(uint32_t id) const {
    if (id < dense_sites_.size()) return dense_sites_[id];
    const auto found = resolved_sites_.find(id);
    return found != resolved_sites_.end() ? &found->second : nullptr;
  }
  const std::vector<ThreadTable>& threads() const { return threads_; }

  struct Module {
    std::string_view path;
    std::string_view build_id;
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t bias = 0;
  };
  const std::vector<Module>& modules() const { return modules_; }
  // Return addresses, innermost first; empty if the capture does not have them.
  const std::vector<uint64_t>& stack(uint32_t id) const {
    static const std::vector<uint64_t> kNone;
    const auto found = stacks_.find(id);
    return found != stacks_.end() ? found->second : kNone;
  }
  struct DeviceRow {
    int64_t process_id = 0;
    int64_t thread_id = 0;  // −1: the device itself
    int64_t sort_index = 0;
    std::string_view name;
  };
  // The last one of a row counts.
  const std::vector<DeviceRow>& deviceRows() const { return device_rows_; }
  const std::array<uint64_t, kDeviceLossCounters>& deviceLosses() const { return device_losses_; }
  // Sorted by key; values are JSON.
  const std::vector<CaptureProperty>& properties() const { return properties_; }

 private:
  void addStack(const char* record, size_t bytes);
  void addString(const char* record, size_t bytes, uint64_t offset, Damages& damages);
  ThreadTable& thread(uint32_t index);
  std::string_view string(uint32_t id) const;

  uint64_t most_threads_;
  std::unordered_map<uint32_t, std::string> strings_;
  std::unordered_map<uint32_t, Site> sites_;
  std::unordered_map<uint32_t, ResolvedSite> resolved_sites_;
  std::vector<const ResolvedSite*> dense_sites_;  // the low ids, which are nearly all of them
  std::vector<ThreadTable> threads_;
  std::vector<uint32_t> thread_names_;
  struct StringPair {
    uint32_t first = 0;
    uint32_t second = 0;
  };
  std::vector<StringPair> property_strings_;
  std::vector<StringPair> module_strings_;
  std::vector<Module> modules_;
  std::vector<DeviceRow> device_rows_;
  std::vector<uint32_t> device_row_names_;
  std::array<uint64_t, kDeviceLossCounters> device_losses_{};
  std::vector<CaptureProperty> properties_;
  std::unordered_map<uint32_t, std::vector<uint64_t>> stacks_;
};

}  // namespace xsigma::profiler::capture
