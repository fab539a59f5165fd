// Tables: the names, places and threads of a capture, as read from its table blocks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/block_walk.h"
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

 private:
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
};

}  // namespace xsigma::profiler::capture
