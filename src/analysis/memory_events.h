// MemoryEvents: the memory events of a trace by time, each with the slice around it on its own thread. Like assemble::EventTable, for one kind of event
// out of very many: it keeps a few dozen bytes of each, and of the slices only those that have memory events in them. Both find the same parents where
// scopes nest; a scope that outlives the one around it may be missed by either.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::analysis {

inline constexpr uint32_t kNoSlice = UINT32_MAX;

struct MemoryRecord {
  int64_t time_ns = 0;
  uint64_t address = 0;
  int64_t bytes = 0;
  uint64_t total_allocated = 0;
  uint64_t total_reserved = 0;
  uint32_t row = 0;
  uint32_t slice = kNoSlice;  // MemoryEvents::slices
  Device device{};
  bool shortage = false;
};

struct MemorySlice {
  int64_t end_ns = 0;
  uint32_t name = 0;  // Trace::name
  uint32_t parent = kNoSlice;
};

class MemoryEvents {
 public:
  explicit MemoryEvents(std::shared_ptr<const Trace> trace);

  const Trace& trace() const { return *trace_; }
  const TraceTotals& totals() const { return totals_; }
  const std::vector<MemorySlice>& slices() const { return slices_; }
  // By time; where times tie, by row.
  void forEach(const std::function<void(const MemoryRecord&)>& visit) const;

 private:
  // A slice or a memory event on its row, as far as nesting is concerned.
  struct Entry {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    uint64_t ordinal = 0;
    uint32_t target = 0;  // in slices_, or in the row's records
    uint16_t depth = 0;
    uint8_t flags = 0;
    bool point = false;
    bool overlaps = false;
  };
  struct Row {
    std::vector<Entry> entries;
    std::vector<MemoryRecord> records;  // in the order of recording, which is that of time
    int64_t last_memory_ns = INT64_MIN;
  };

  void take(const EventBatch& batch);
  void findParents(Row& row);
  static bool earlier(const Entry& a, const Entry& b);
  static void deepenUnder(std::vector<Entry>& entries);

  std::shared_ptr<const Trace> trace_;
  TraceTotals totals_;
  std::vector<MemorySlice> slices_;
  std::vector<Row> rows_;
};

}  // namespace xsigma::profiler::analysis
