#include "analysis/memory_series.h"

#include <algorithm>

#include "analysis/memory_replay.h"

namespace xsigma::profiler::analysis {
namespace {

bool changes(const MemoryEvent& event) { return event.action == MemoryAction::alloc || event.action == MemoryAction::free; }

// Of each stretch of time the event of the maximum and the last one.
std::vector<uint32_t> chosenEvents(const MemoryProfile& profile, const MemoryDevice& device, size_t most_rows, bool& sampled) {
  const auto count = static_cast<size_t>(std::count_if(device.events.begin(), device.events.end(), changes));
  sampled = count > most_rows;
  const auto stretches = static_cast<double>(std::max<size_t>(1, most_rows / 2));
  const auto length = static_cast<double>(std::max<int64_t>(1, profile.end_ns - profile.start_ns));
  std::vector<uint32_t> chosen;
  int64_t stretch = -1;
  for (uint32_t i = 0; i < device.events.size(); ++i) {
    if (!changes(device.events[i])) continue;
    const auto since = static_cast<double>(device.events[i].time_ns - profile.start_ns);
    const auto here = sampled ? static_cast<int64_t>(std::clamp(since / length, 0.0, 1.0) * (stretches - 1)) : int64_t{i};
    if (here != stretch) {
      stretch = here;
      chosen.push_back(i);               // the maximum so far
      if (sampled) chosen.push_back(i);  // the last so far
    } else {
      uint32_t& maximum = chosen[chosen.size() - 2];
      if (device.events[i].allocated > device.events[maximum].allocated) maximum = i;
      chosen.back() = i;
    }
  }
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

std::vector<uint32_t> largestScopes(const MemoryDevice& device, size_t scopes, bool& others) {
  std::vector<uint64_t> most(scopes);
  MemoryReplay replay(device, scopes);
  for (const MemoryEvent& event : device.events) {
    replay.step();
    if (event.action == MemoryAction::alloc) most[event.scope] = std::max(most[event.scope], replay.heldBy(event.scope));
  }
  std::vector<uint32_t> largest;
  for (uint32_t i = 0; i < scopes; ++i) {
    if (most[i] != 0) largest.push_back(i);
  }
  std::stable_sort(largest.begin(), largest.end(), [&](uint32_t a, uint32_t b) { return most[a] > most[b]; });
  others = largest.size() > kMostScopes;
  if (others) largest.resize(kMostScopes);
  return largest;
}

}  // namespace

MemorySeries seriesOf(const MemoryProfile& profile, const MemoryDevice& device, size_t most_rows) {
  MemorySeries series;
  const std::vector<uint32_t> chosen = chosenEvents(profile, device, most_rows, series.sampled);
  series.scopes = largestScopes(device, profile.scopes.size(), series.has_others);
  MemorySeries::Row row;
  row.time_ns = profile.start_ns;
  series.rows.push_back(row);
  MemoryReplay replay(device, profile.scopes.size());
  uint32_t next = 0;
  for (const uint32_t event : chosen) {
    for (; next <= event; ++next) replay.step();
    row.time_ns = device.events[event].time_ns;
    for (size_t i = 0; i < kMemoryCategories; ++i) row.by_category[i] = replay.byCategory()[static_cast<size_t>(kStackOrder[i])];
    uint64_t others = device.events[event].allocated;
    for (size_t i = 0; i < series.scopes.size(); ++i) others -= row.by_scope[i] = replay.heldBy(series.scopes[i]);
    row.by_scope[kMostScopes] = others;
    series.rows.push_back(row);
  }
  row.time_ns = std::max(profile.end_ns, row.time_ns);
  series.rows.push_back(row);
  return series;
}

}  // namespace xsigma::profiler::analysis
