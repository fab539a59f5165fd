#include "assemble/event_table.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "assemble/start_order.h"

namespace xsigma::profiler::assemble {
namespace {

using Entry = EventTable::Entry;

// Starts are those of events in the batches.
std::vector<StartPlace> placesByStart(const std::vector<EventBatch>& batches, size_t events) {
  std::vector<StartPlace> places;
  places.reserve(events);
  for (uint32_t batch = 0; batch < batches.size(); ++batch) {
    const std::vector<TraceEvent>& all = batches[batch].events;
    for (uint32_t i = 0; i < all.size(); ++i) places.push_back({static_cast<uint64_t>(all[i].start_ns), batch, i});
  }
  sortByStart(places);
  return places;
}

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

// Copies the events out, settles the order of those that start at once, and keeps of the batches what details lie in.
void fillEntries(EventTable& table, const std::vector<StartPlace>& places) {
  std::vector<Entry>& entries = table.entries;
  entries.reserve(places.size());
  size_t tied = 0;  // where those of one start begin
  const auto settleTies = [&] {
    if (entries.size() - tied > 1) std::stable_sort(entries.begin() + static_cast<std::ptrdiff_t>(tied), entries.end(), earlier);
    tied = entries.size();
  };
  for (const StartPlace& place : places) {
    const EventBatch& batch = table.batches[place.batch];
    const TraceEvent& event = batch.events[place.event];
    if (tied < entries.size() && entries[tied].event.start_ns != event.start_ns) settleTies();
    entries.push_back({event, batch.details(event), kNoParent});
  }
  settleTies();
  for (EventBatch& batch : table.batches) batch.events = {};
  const auto without_details = [](const EventBatch& batch) { return batch.all_details.empty(); };
  table.batches.erase(std::remove_if(table.batches.begin(), table.batches.end(), without_details), table.batches.end());
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

// Work of a device is the child of the call that asked for it.
void adoptWork(EventTable& table) {
  std::unordered_map<uint64_t, uint32_t> calls;
  const auto joins = [](const Entry& entry) {
    return (entry.event.flags & kEventOfBackend) != 0 && entry.details != nullptr && entry.details->flow_id != 0;
  };
  for (uint32_t i = 0; i < table.entries.size(); ++i) {
    if (joins(table.entries[i]) && table.entries[i].details->flow_start) calls.emplace(table.entries[i].event.id, i);
  }
  if (calls.empty()) return;
  for (uint32_t i = 0; i < table.entries.size(); ++i) {
    Entry& entry = table.entries[i];
    if (!joins(entry) || entry.details->flow_start) continue;
    const auto found = calls.find(entry.event.id);
    if (found != calls.end() && found->second < i)
      entry.parent = found->second;  // parents come first: what starts before its call has none
  }
}

}  // namespace

std::shared_ptr<EventTable> tabulate(std::shared_ptr<const Trace> trace, std::chrono::nanoseconds deadline) {
  auto table = std::make_shared<EventTable>();
  table->trace = std::move(trace);
  size_t events = 0;
  table->totals = table->trace->forEachBatch(
      [&](EventBatch& batch) {
        events += batch.events.size();
        table->batches.push_back(std::move(batch));
      },
      deadline);
  fillEntries(*table, placesByStart(table->batches, events));
  deepenUnder(table->entries);
  findParents(*table);
  adoptWork(*table);
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
