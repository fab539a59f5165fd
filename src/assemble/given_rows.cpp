#include "assemble/given_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"

namespace xsigma::profiler::assemble {
namespace {

// Thread numbers of rows that are no thread's; real ones are far below.
constexpr int64_t kFurtherRows = 0xF0000000;
// Rows for what crosses on one place. A device runs fewer kernels at once; every event looks through all of them.
constexpr size_t kMostLanes = 256;

// The ends of the slices that are open at the last one's start.
struct Lane {
  uint32_t row = 0;
  std::vector<int64_t> open_ends;

  bool accept(Placed& event) {
    while (!open_ends.empty() && open_ends.back() <= event.start_ns) open_ends.pop_back();
    if (!open_ends.empty() && event.end_ns > open_ends.back()) return false;
    event.row = row;
    event.depth = static_cast<uint16_t>(std::min<size_t>(open_ends.size(), UINT16_MAX));
    open_ends.push_back(event.end_ns);
    return true;
  }
};

// Process and thread as readers tell them apart: those that look alike share a place, and must not cross there.
using Place = std::pair<uint32_t, uint32_t>;
Place placeOf(int64_t process_id, int64_t thread_id) { return {base::readableId(process_id), base::readableId(thread_id)}; }

struct PlaceRows {
  uint32_t first_row = 0;
  std::vector<Lane> lanes;
};

}  // namespace

void placeGiven(std::vector<Placed*>& events, std::vector<TraceRow>& rows, const std::vector<bool>& taken) {
  std::map<Place, PlaceRows> places;
  for (uint32_t row = 0; row < rows.size(); ++row) {
    PlaceRows& place = places[placeOf(rows[row].process_id, rows[row].thread_id)];
    place.first_row = row;
    place.lanes.clear();
    if (row >= taken.size() || !taken[row]) place.lanes.push_back({row, {}});
  }
  std::stable_sort(events.begin(), events.end(), [](const Placed* a, const Placed* b) {
    return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->end_ns > b->end_ns;
  });
  uint32_t further = 0;
  for (Placed* const event : events) {
    const auto [entry, fresh] = places.try_emplace(placeOf(event->process_id, event->thread_id));
    PlaceRows& place = entry->second;
    if (fresh) {
      place.first_row = static_cast<uint32_t>(rows.size());
      place.lanes.push_back({place.first_row, {}});
      rows.push_back({event->process_id, event->thread_id, 0, "", false});
    }
    if (!event->slice) {
      event->row = place.first_row;
      continue;
    }
    if (std::any_of(place.lanes.begin(), place.lanes.end(), [&](Lane& lane) { return lane.accept(*event); })) continue;
    if (place.lanes.size() >= kMostLanes) {
      event->crosses = true;
      event->row = place.first_row;
      continue;
    }
    const auto row = static_cast<uint32_t>(rows.size());
    TraceRow beside = rows[place.first_row];
    beside.name = fmt::format("{}{}beside {}", beside.name, beside.name.empty() ? "" : ", ", beside.thread_id);
    beside.stands_for = beside.resourceId();
    beside.thread_id = kFurtherRows + further++;
    beside.logical_id = 0;
    beside.beside = true;
    rows.push_back(std::move(beside));
    place.lanes.push_back({row, {}});
    place.lanes.back().accept(*event);
  }
}

}  // namespace xsigma::profiler::assemble
