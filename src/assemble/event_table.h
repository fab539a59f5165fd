// EventTable: all events of a trace at once, by start, each with its parent. For those who need to look around; exporters stream instead.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "assemble/parent_stack.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::assemble {

struct EventTable {
  struct Entry {
    TraceEvent event;
    const EventDetails* details = nullptr;
    uint32_t parent = kNoParent;
    int64_t endNs() const { return event.start_ns + event.duration_ns; }
  };

  std::shared_ptr<const Trace> trace;
  TraceTotals totals;
  std::vector<Entry> entries;
  std::vector<uint32_t> last_of_row;  // the entry after which a row has no other; kNoParent for an empty row
  std::vector<EventBatch> batches;    // what the details lie in

  const TraceRow& row(const Entry& entry) const { return totals.rows[entry.event.row]; }
};

// About 80 bytes an event. After the deadline (0 = none) the table is what there is, and totals.complete is false.
std::shared_ptr<EventTable> tabulate(std::shared_ptr<const Trace> trace, std::chrono::nanoseconds deadline = {});

// Work of a device, not of a thread.
inline bool isOfDevice(const TraceEvent& event) { return (event.flags & kEventGiven) != 0 && deviceTypeFromActivity(event.type) != DeviceType::CPU; }

// Innermost first: the native frames at its begin where they were recorded, otherwise the scopes around it. At most so many.
std::vector<std::string> stackOf(const EventTable& table, const EventTable::Entry& entry, size_t most = SIZE_MAX);

}  // namespace xsigma::profiler::assemble
