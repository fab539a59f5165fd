#include "assemble/event_table.h"

#include <algorithm>
#include <tuple>

namespace xsigma::profiler::assemble {
namespace {

using Entry = EventTable::Entry;

bool isPoint(const TraceEvent& event) { return event.kind != TraceEventKind::slice && event.kind != TraceEventKind::async_slice; }

// Stands around what begins later on its thread: slices, and those that only overlap because they outlived the scope around them.
bool isAround(const TraceEvent& event) {
  return event.kind == TraceEventKind::slice || (event.kind == TraceEventKind::async_slice && (event.flags & kEventOverlaps) != 0);
}

// By start; where starts tie, in the order of the begins on the thread, and points after the scope they are in.
bool earlier(const Entry& a, const Entry& b) {
  const auto key = [](const Entry& entry) {
    const TraceEvent& event = entry.event;
    const bool encloses = (event.flags & kEventUnmatched) != 0;
    const bool inside = isPoint(event) || (event.flags & kEventGiven) != 0;
    return std::tuple(event.start_ns, event.row, !encloses, event.ordinal, inside, -event.duration_ns);
  };
  return key(a) < key(b);
}

// A slice whose begin was lost stands around all that came before its end: what lies in it is one deeper than its thread knew.
void deepenUnder(std::vector<Entry>& entries) {
  std::vector<size_t> around;
  for (size_t i = 0; i < entries.size(); ++i) {
    if ((entries[i].event.flags & kEventUnmatched) != 0 && entries[i].event.kind == TraceEventKind::slice) around.push_back(i);
  }
  for (const size_t outer : around) {
    for (size_t i = outer + 1; i < entries.size() && entries[i].event.start_ns <= entries[outer].endNs(); ++i) {
      TraceEvent& event = entries[i].event;
      if (event.row == entries[outer].event.row && entries[i].endNs() <= entries[outer].endNs() && event.depth < UINT16_MAX) ++event.depth;
    }
  }
}

void findParents(EventTable& table) {
  std::vector<ParentStack> rows(table.totals.rows.size());
  table.last_of_row.assign(rows.size(), kNoParent);
  for (uint32_t i = 0; i < table.entries.size(); ++i) {
    Entry& entry = table.entries[i];
    ParentStack& row = rows[entry.event.row];
    table.last_of_row[entry.event.row] = i;
    entry.parent = row.around(entry.event.start_ns, entry.event.depth);
    if (isAround(entry.event)) row.push(i, entry.event.depth, entry.endNs(), entry.event.kind == TraceEventKind::async_slice);
  }
}

}  // namespace

std::shared_ptr<EventTable> tabulate(std::shared_ptr<const Trace> trace, std::chrono::nanoseconds deadline) {
  auto table = std::make_shared<EventTable>();
  table->trace = std::move(trace);
  table->totals = table->trace->forEachBatch(
      [&](EventBatch& batch) {
        std::vector<EventDetails> details = std::move(batch.all_details);
        for (const TraceEvent& event : batch.events) {
          table->entries.push_back({event, event.details != kNoDetails ? details.data() + event.details : nullptr, kNoParent});
        }
        if (details.empty()) return;
        EventBatch kept;
        kept.all_details = std::move(details);
        kept.memory = batch.memory;
        table->batches.push_back(std::move(kept));
      },
      deadline);
  std::stable_sort(table->entries.begin(), table->entries.end(), earlier);
  deepenUnder(table->entries);
  findParents(*table);
  return table;
}

std::vector<std::string> stackOf(const EventTable& table, const Entry& entry, size_t most) {
  std::vector<std::string> frames;
  if (entry.details != nullptr && entry.details->stack != 0) {
    frames = table.trace->stack(entry.details->stack);
    if (frames.size() > most) frames.resize(most);
    return frames;
  }
  for (uint32_t parent = entry.parent; parent != kNoParent && frames.size() < most; parent = table.entries[parent].parent) {
    frames.emplace_back(table.trace->name(table.entries[parent].event.name).text);
  }
  return frames;
}

}  // namespace xsigma::profiler::assemble
