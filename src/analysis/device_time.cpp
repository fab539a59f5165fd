#include "analysis/device_time.h"

#include <algorithm>
#include <unordered_map>

namespace xsigma::profiler::analysis {

int64_t DeviceTime::unionOf(std::vector<Span>& spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start_ns < b.start_ns; });
  int64_t busy = 0;
  int64_t until = INT64_MIN;
  for (const Span& span : spans) {
    if (span.end_ns <= until) continue;
    busy += span.end_ns - std::max(span.start_ns, until);
    until = span.end_ns;
  }
  return busy;
}

DeviceTime::Spans& DeviceTime::of(uint32_t group) {
  if (group >= spans_.size()) spans_.resize(group + size_t{1});
  return spans_[group];
}

void DeviceTime::add(const assemble::EventTable& table, const std::vector<uint32_t>& device_entries, AverageGroups& groups) {
  if (device_entries.empty()) return;
  std::unordered_map<uint64_t, uint32_t> askers;  // by id: the scopes that something is linked to
  for (const uint32_t index : device_entries) {
    const EventDetails* const details = table.entries[index].details;
    if (details != nullptr && details->linked_id != 0) askers.emplace(details->linked_id, assemble::kNoParent);
  }
  for (uint32_t i = 0; i < table.entries.size(); ++i) {
    const TraceEvent& event = table.entries[i].event;
    const bool scope =
        (event.kind == TraceEventKind::slice || event.kind == TraceEventKind::async_slice) && (event.flags & kEventGiven) == 0;
    if (!scope || event.id == 0) continue;
    if (const auto found = askers.find(event.id); found != askers.end()) found->second = i;
  }
  for (const uint32_t index : device_entries) {
    const Entry& entry = table.entries[index];
    const Span span{entry.event.start_ns, entry.endNs()};
    Spans& own = of(groups.of(entry));
    own.self.push_back(span);
    own.total.push_back(span);
    if (entry.event.type == libkineto::ActivityType::GPU_USER_ANNOTATION) continue;  // says whose work it was; is none itself
    all_.push_back(span);
    ++added_;
    const auto asker = entry.details != nullptr ? askers.find(entry.details->linked_id) : askers.end();
    if (asker == askers.end() || asker->second == assemble::kNoParent) continue;
    of(groups.of(table.entries[asker->second])).self.push_back(span);
    for (uint32_t around = asker->second; around != assemble::kNoParent; around = table.entries[around].parent) {
      Spans& spans = of(groups.of(table.entries[around]));
      if (spans.last_added == added_) continue;
      spans.last_added = added_;
      spans.total.push_back(span);
    }
  }
}

int64_t DeviceTime::settle(std::vector<KeyAverage>& rows) {
  for (size_t group = 0; group < spans_.size(); ++group) {
    rows[group].self_device_ns = unionOf(spans_[group].self);
    rows[group].device_total_ns = unionOf(spans_[group].total);
  }
  return unionOf(all_);
}

}  // namespace xsigma::profiler::analysis
