// AverageGroups: which row of the averages an event belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "assemble/event_table.h"
#include "xsigma/profiler/key_averages.h"

namespace xsigma::profiler::analysis {

class AverageGroups {
 public:
  using Entry = assemble::EventTable::Entry;

  explicit AverageGroups(const GroupBy& by) : by_(by) {}

  // Events asked about from now on are of this table.
  void open(const assemble::EventTable& table);
  uint32_t of(const Entry& entry) {
    if (!by_name_only_ || (entry.event.flags & kEventGiven) != 0) return find(entry);
    const size_t place = entry.event.name * size_t{2} + (entry.event.kind == TraceEventKind::async_slice);
    if (place < known_.size() && known_[place] != kUnknown) return known_[place];
    return remember(place, find(entry));
  }
  // Allocations that no scope is around.
  uint32_t ofLooseMemory(const Entry& entry);

  std::vector<KeyAverage>& rows() { return rows_; }

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;

  uint32_t find(const Entry& entry);
  uint32_t remember(size_t place, uint32_t group);
  uint32_t rowOf(KeyAverage&& row);
  void describePlace(const Entry& entry, KeyAverage& row) const;

  GroupBy by_;
  bool by_name_only_ = !by_.input_shapes && by_.stack_frames == 0 && !by_.thread;
  const assemble::EventTable* table_ = nullptr;
  std::vector<uint32_t> known_;  // of the table's names: synchronous, asynchronous
  std::unordered_map<std::string, uint32_t> by_key_;
  std::vector<KeyAverage> rows_;
};

}  // namespace xsigma::profiler::analysis
