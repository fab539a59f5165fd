#include "assemble/device_annotations.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "assemble/details.h"

namespace xsigma::profiler::assemble {

namespace {

constexpr size_t kMostAround = 64;  // one piece of work
constexpr size_t kMostPerWork = 8;  // on average: scopes hold more than one kernel, or few scopes hold each other
constexpr size_t kAlwaysTaken = 4096;

using Queue = std::pair<int64_t, int64_t>;  // process and thread

bool isWork(const DeviceEvent& event) { return event.activity.role == DeviceRole::work; }

}  // namespace

bool DeviceAnnotations::make(const DeviceEvents& events, const std::vector<Leftovers>& leftovers) {
  if (!collect(events, leftovers)) return false;
  if (!all.empty()) pad(events);
  return true;
}

bool DeviceAnnotations::collect(const DeviceEvents& events, const std::vector<Leftovers>& leftovers) {
  const auto work = static_cast<size_t>(std::count_if(events.all.begin(), events.all.end(), isWork));
  const size_t most = kAlwaysTaken + kMostPerWork * work;
  std::map<std::tuple<uint32_t, uint32_t, int64_t, int64_t>, Annotation*> made;  // row and scope, device and queue
  std::vector<uint32_t> chain;
  base::DeadlineLook look(events.deadline());
  for (const DeviceEvent& event : events.all) {
    if (look.passed()) return false;
    if (!isWork(event) || event.asker.user_scope == UINT32_MAX || event.asker.row >= leftovers.size()) continue;
    const std::vector<UserScope>& scopes = leftovers[event.asker.row].user_scopes;
    chain.clear();
    uint32_t scope = event.asker.user_scope;
    for (; scope < scopes.size() && chain.size() < kMostAround; scope = scopes[scope].around) chain.push_back(scope);
    bool whole = scope >= scopes.size();
    for (auto each = chain.rbegin(); each != chain.rend(); ++each) {
      const auto key = std::tuple(event.asker.row, *each, event.place.process_id, event.place.thread_id);
      const auto found = made.find(key);
      if (found != made.end()) {
        Placed& place = found->second->place;
        place.start_ns = std::min(place.start_ns, event.place.start_ns);
        place.end_ns = std::max(place.end_ns, event.place.end_ns);
      } else if (all.size() < most) {
        made.emplace(key, &all.emplace_back(Annotation{event.place, scopes[*each].name, scopes[*each].id}));
      } else {
        whole = false;
      }
    }
    cut += whole ? 0 : 1;
  }
  return true;
}

// A nanosecond on either side, where the queue was idle, so that every viewer puts the work into the annotation.
void DeviceAnnotations::pad(const DeviceEvents& events) {
  std::map<Queue, std::vector<std::pair<int64_t, int64_t>>> busy;
  for (const DeviceEvent& event : events.all) {
    if (isWork(event)) busy[{event.place.process_id, event.place.thread_id}].emplace_back(event.place.start_ns, event.place.end_ns);
  }
  for (auto& [queue, spans] : busy) std::sort(spans.begin(), spans.end());
  constexpr int64_t kLeastGap = 2;
  for (Annotation& annotation : all) {
    Placed& place = annotation.place;
    const auto& spans = busy[{place.process_id, place.thread_id}];
    const auto first = std::lower_bound(spans.begin(), spans.end(), std::pair(place.start_ns, INT64_MIN));
    const auto next = std::lower_bound(spans.begin(), spans.end(), std::pair(place.end_ns, INT64_MIN));
    const bool idle_before = first == spans.begin() || place.start_ns - std::prev(first)->second >= kLeastGap;
    const bool idle_after = next == spans.end() || next->first - place.end_ns >= kLeastGap;
    if (idle_before) --place.start_ns;
    if (idle_after) ++place.end_ns;
  }
}

void DeviceAnnotations::emit(const Annotation& annotation, EventBatch& batch, uint64_t ordinal) const {
  TraceEvent event;
  event.start_ns = annotation.place.start_ns;
  event.duration_ns = annotation.place.end_ns - annotation.place.start_ns;
  event.ordinal = ordinal;
  event.row = annotation.place.row;
  event.depth = annotation.place.depth;
  event.name = annotation.name;
  event.kind = kindOf(annotation.place);
  event.type = libkineto::ActivityType::GPU_USER_ANNOTATION;
  event.flags = kEventGiven | kEventOfBackend;
  detailsOf(batch, event).linked_id = annotation.id;
  batch.events.push_back(event);
}

}  // namespace xsigma::profiler::assemble
