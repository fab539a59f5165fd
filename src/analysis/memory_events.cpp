#include "analysis/memory_events.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "assemble/parent_stack.h"

namespace xsigma::profiler::analysis {
namespace {

bool isMemory(const TraceEvent& event) { return event.kind == TraceEventKind::memory || event.kind == TraceEventKind::out_of_memory; }

// Events come in the order of their ends, but a slice goes before those inside it that tie with it, and so before what happened at its very end.
bool memoryAtEnd(const std::vector<TraceEvent>& events, size_t slice) {
  const int64_t end_ns = events[slice].start_ns + events[slice].duration_ns;
  for (size_t i = slice + 1; i < events.size() && events[i].start_ns + events[i].duration_ns <= end_ns; ++i) {
    if (isMemory(events[i]) && events[i].row == events[slice].row) return true;
  }
  return false;
}

}  // namespace

MemoryEvents::MemoryEvents(std::shared_ptr<const Trace> trace) : trace_(std::move(trace)) {
  totals_ = trace_->forEachBatch([this](EventBatch& batch) { take(batch); });
  for (Row& row : rows_) findParents(row);
}

void MemoryEvents::take(const EventBatch& batch) {
  for (size_t i = 0; i < batch.events.size(); ++i) {
    const TraceEvent& event = batch.events[i];
    if (event.row >= rows_.size()) rows_.resize(event.row + size_t{1});
    Row& row = rows_[event.row];
    const bool overlaps = event.kind == TraceEventKind::async_slice && (event.flags & kEventOverlaps) != 0;
    const bool slice = event.kind == TraceEventKind::slice || overlaps;  // other asynchronous ones are around nothing
    const EventDetails* const details = batch.details(event);
    Entry entry{event.start_ns, event.start_ns + event.duration_ns, event.ordinal, 0, event.depth, event.flags, !slice, overlaps};
    if (slice) {
      if (row.last_memory_ns < event.start_ns && !memoryAtEnd(batch.events, i)) continue;  // nothing happened in it
      entry.target = static_cast<uint32_t>(slices_.size());
      slices_.push_back({entry.end_ns, event.name, kNoSlice});
    } else if (isMemory(event) && details != nullptr) {
      entry.target = static_cast<uint32_t>(row.records.size());
      row.records.push_back({event.start_ns, details->address, details->bytes, details->total_allocated, details->total_reserved, event.row,
                             kNoSlice, details->device, event.kind == TraceEventKind::out_of_memory});
      row.last_memory_ns = std::max(row.last_memory_ns, event.start_ns);
    } else {
      continue;
    }
    row.entries.push_back(entry);
  }
}

// By start; where starts tie, in the order of the begins on the thread, and points after the scope they are in.
bool MemoryEvents::earlier(const Entry& a, const Entry& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  const auto key = [](const Entry& entry) {
    const bool encloses = (entry.flags & kEventUnmatched) != 0;
    const bool inside = entry.point || (entry.flags & kEventGiven) != 0;
    return std::tuple(!encloses, entry.ordinal, inside, entry.start_ns - entry.end_ns);
  };
  return key(a) < key(b);
}

// A slice whose begin was lost stands around all that came before its end: what lies in it is one deeper than its thread knew.
void MemoryEvents::deepenUnder(std::vector<Entry>& entries) {
  for (size_t outer = 0; outer < entries.size(); ++outer) {
    if ((entries[outer].flags & kEventUnmatched) == 0 || entries[outer].overlaps) continue;
    for (size_t i = outer + 1; i < entries.size() && entries[i].start_ns <= entries[outer].end_ns; ++i) {
      if (entries[i].end_ns <= entries[outer].end_ns && entries[i].depth < UINT16_MAX) ++entries[i].depth;
    }
  }
}

void MemoryEvents::findParents(Row& row) {
  std::stable_sort(row.entries.begin(), row.entries.end(), earlier);
  deepenUnder(row.entries);
  assemble::ParentStack open;  // of places in row.entries
  for (uint32_t i = 0; i < row.entries.size(); ++i) {
    const Entry& entry = row.entries[i];
    const uint32_t around = open.around(entry.start_ns, entry.depth);
    const uint32_t parent = around != assemble::kNoParent ? row.entries[around].target : kNoSlice;
    if (entry.point) {
      row.records[entry.target].slice = parent;
    } else {
      slices_[entry.target].parent = parent;
      open.push(i, entry.depth, entry.end_ns, entry.overlaps);
    }
  }
  row.entries = {};
}

void MemoryEvents::forEach(const std::function<void(const MemoryRecord&)>& visit) const {
  struct Next {
    const MemoryRecord* record;
    const MemoryRecord* end;
    bool operator<(const Next& other) const {
      return std::tuple(record->time_ns, record->row) > std::tuple(other.record->time_ns, other.record->row);
    }
  };
  std::priority_queue<Next> rows;
  for (const Row& row : rows_) {
    if (!row.records.empty()) rows.push({row.records.data(), row.records.data() + row.records.size()});
  }
  while (!rows.empty()) {
    Next next = rows.top();
    rows.pop();
    // As long as this row is ahead of the others, nothing needs to be queued.
    do {
      visit(*next.record++);
    } while (next.record != next.end && (rows.empty() || !(next < rows.top())));
    if (next.record != next.end) rows.push(next);
  }
}

}  // namespace xsigma::profiler::analysis
