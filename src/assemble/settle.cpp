#include "assemble/settle.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "assemble/details.h"
#include "assemble/device_settle.h"
#include "assemble/given_rows.h"
#include "assemble/links.h"
#include "capture/mark_codec.h"

namespace xsigma::profiler::assemble {

using capture::RawRecord;
using libkineto::ActivityType;

namespace {

// Thread numbers that a later thread got as well: what was left open there must not reach into it.
std::set<int64_t> reusedThreadIds(const std::vector<TraceRow>& rows) {
  std::set<int64_t> seen;
  std::set<int64_t> reused;
  for (const TraceRow& row : rows) {
    if (!seen.insert(row.thread_id).second) reused.insert(row.thread_id);
  }
  return reused;
}

class AsyncEnds {
 public:
  explicit AsyncEnds(const std::vector<Leftovers>& leftovers) {
    for (const Leftovers& thread : leftovers) {
      for (const AsyncEnd& end : thread.async_ends) ends_[{end.scope, end.id, end.scope ? 0 : end.name}].emplace(end.end_ns, &end);
    }
  }
  // The first end after its begin that belongs to it; each is taken once.
  const AsyncEnd* take(const OpenScope& open) {
    const auto found = ends_.find({!open.marked, open.event.id, open.marked ? open.event.name : 0});
    if (found == ends_.end()) return nullptr;
    const auto first = found->second.lower_bound(open.event.start_ns);
    if (first == found->second.end()) return nullptr;
    const AsyncEnd* const end = first->second;
    found->second.erase(first);
    return end;
  }
  uint64_t left() const {
    uint64_t count = 0;
    for (const auto& [key, ends] : ends_) count += ends.size();
    return count;
  }

 private:
  using Key = std::tuple<bool, uint64_t, uint32_t>;  // a scope or a mark, its id, a mark's name
  std::map<Key, std::multimap<int64_t, const AsyncEnd*>> ends_;
};

void settleOpen(std::vector<Leftovers>& leftovers, int64_t trace_end_ns, EventBatch& batch, TraceTotals& totals, const Flush& flush) {
  AsyncEnds ends(leftovers);
  const std::set<int64_t> reused = reusedThreadIds(totals.rows);
  for (Leftovers& thread : leftovers) {
    for (OpenScope& open : thread.open) {
      TraceEvent& event = open.event;
      const AsyncEnd* const end = ends.take(open);
      int64_t end_ns = trace_end_ns;
      if (end != nullptr) {
        event.kind = TraceEventKind::async_slice;
        end_ns = end->end_ns;
      } else {
        event.flags |= kEventUnfinished;
        ++totals.unfinished;
        if (!open.marked && reused.count(totals.rows[event.row].thread_id) != 0) end_ns = open.thread_end_ns;
      }
      event.duration_ns = std::max<int64_t>(0, end_ns - event.start_ns);
      attachDetails(batch, event, open.records.data(), open.records.size());
      if (end != nullptr && end->row != event.row) detailsOf(batch, event).end_row = end->row + 1;
      batch.events.push_back(event);
      flush(false);
    }
  }
  totals.unmatched += ends.left();
}

struct GivenItem {
  Placed place;
  const GivenRecord* given;
};

std::vector<GivenItem> givenItems(const std::vector<Leftovers>& leftovers) {
  std::vector<GivenItem> items;
  for (size_t row = 0; row < leftovers.size(); ++row) {
    for (const GivenRecord& given : leftovers[row].given) {
      const RawRecord record{given.record.data(), static_cast<uint32_t>(given.record.size()), 0};
      GivenItem item{{}, &given};
      item.place.row = given.row;
      item.place.depth = given.depth;
      item.place.process_id = static_cast<int64_t>(record.wide(capture::kGivenProcess));
      item.place.thread_id = static_cast<int64_t>(record.wide(capture::kGivenThread));
      constexpr int64_t kMostNs = INT64_MAX / 4;  // far beyond what is shown, and safe to count with
      item.place.start_ns = std::clamp<int64_t>(static_cast<int64_t>(record.wide(capture::kGivenStart)), 0, kMostNs);
      item.place.end_ns = item.place.start_ns + std::clamp<int64_t>(static_cast<int64_t>(record.wide(capture::kGivenDuration)), 0, kMostNs);
      item.place.slice = static_cast<ActivityType>(record.word(capture::kGivenType)) != ActivityType::CPU_INSTANT_EVENT;
      items.push_back(item);
    }
  }
  return items;
}

void emitGiven(const std::vector<GivenItem>& items, EventBatch& batch, uint64_t& next_ordinal, std::vector<FlowEnd>& flows, const Flush& flush) {
  for (const GivenItem& item : items) {
    const RawRecord record{item.given->record.data(), static_cast<uint32_t>(item.given->record.size()), 0};
    TraceEvent event;
    event.start_ns = item.place.start_ns;
    event.duration_ns = item.place.end_ns - item.place.start_ns;
    event.id = record.wide(capture::kGivenCorrelation);
    event.row = item.place.row;
    event.depth = item.place.depth;
    event.name = record.word(capture::kGivenSite);
    event.kind = kindOf(item.place);
    event.type = static_cast<ActivityType>(record.word(capture::kGivenType));
    event.flags = kEventGiven;
    event.ordinal = next_ordinal++;
    attachOwnDetails(batch, event, record);
    const EventDetails& details = batch.all_details[event.details];
    if (details.flow_id != 0) flows.push_back({details.flow_id, details.flow_type, details.flow_start, event.row, event.start_ns, event.id});
    batch.events.push_back(event);
    flush(false);
  }
}

// Those that brought their own place, so that slices of a row nest or are disjoint.
void placeAll(std::vector<GivenItem>& items, DeviceSettle& devices, const std::vector<Leftovers>& leftovers, TraceTotals& totals) {
  std::vector<bool> taken(totals.rows.size());
  for (size_t row = 0; row < leftovers.size(); ++row) taken[row] = leftovers[row].has_slices || !leftovers[row].open.empty();
  std::vector<Placed*> places;
  places.reserve(items.size());
  for (GivenItem& item : items) {
    if (!item.given->placed) places.push_back(&item.place);
  }
  devices.addPlaces(places);
  placeGiven(places, totals.rows, taken);
  for (const Placed* const place : places) totals.overlapping += place->crosses ? 1 : 0;
}

}  // namespace

void settleLeftovers(const TraceInfo& info, std::vector<Leftovers>& leftovers, DeviceEvents& devices, const capture::Tables& tables, EventBatch& batch,
                     TraceTotals& totals, const Flush& give) {
  int64_t trace_end_ns = info.end_ns;
  for (const Leftovers& thread : leftovers) {
    trace_end_ns = std::max(trace_end_ns, thread.last_ns);
    totals.unfinished += thread.unfinished;
    totals.unmatched += thread.unmatched;
    totals.overlapping += thread.overlapping;
    totals.memory_events += thread.memory_events;
    totals.events += thread.events;
  }
  totals.end_ns = trace_end_ns;
  batch.rows = &totals.rows;
  const Flush flush = [&](bool last) {
    totals.events += last ? 0 : 1;
    give(last);
  };
  settleOpen(leftovers, trace_end_ns, batch, totals, flush);
  std::vector<GivenItem> items = givenItems(leftovers);
  devices.link(!info.unlinked);
  DeviceSettle device_settle(devices, tables, leftovers, info.process_id, totals);
  placeAll(items, device_settle, leftovers, totals);
  uint64_t next_ordinal = 0;  // after those of all scopes
  for (const Leftovers& thread : leftovers) next_ordinal = std::max(next_ordinal, thread.end_ordinal);
  std::vector<FlowEnd> flows;
  emitGiven(items, batch, next_ordinal, flows, flush);
  device_settle.emit(batch, totals, next_ordinal, [&] { flush(false); });
  flush(true);
  totals.complete &= !devices.late();
  const std::vector<TraceLink> given_links = linkFlows(std::move(flows));
  totals.links.insert(totals.links.end(), given_links.begin(), given_links.end());
  uint64_t next_id = 1;
  for (const TraceLink& link : totals.links) next_id = std::max(next_id, link.id + 1);
  const std::vector<TraceLink> links = linkForwardBackward(totals.rows, leftovers, next_id);
  totals.links.insert(totals.links.end(), links.begin(), links.end());
}

}  // namespace xsigma::profiler::assemble
