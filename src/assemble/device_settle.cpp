#include "assemble/device_settle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "assemble/batch_memory.h"
#include "assemble/details.h"
#include "assemble/device_args.h"
#include "base/json_text.h"
#include "capture/device_codec.h"

namespace xsigma::profiler::assemble {

using libkineto::ActivityType;

namespace {

constexpr int64_t kDeviceLevelRow = 0xD0000000;  // a device's row beside its queues
constexpr int64_t kOverheadRow = 0xD0000001;     // of this process
constexpr int64_t kWaitingRows = 1'000'000;      // readers know synchronisation on a row of its own by this
constexpr uint8_t kLaunchFlow = 2;
// Of all events together, so that a small capture cannot ask for more than there is memory: far more than the longest forms take.
constexpr uint64_t kArgBytesPerCaptureByte = 64;
constexpr uint64_t kArgBytesAlways = uint64_t{16} << 20;

using Queue = std::pair<int64_t, int64_t>;  // process and thread

bool isSlice(DeviceRole role) {
  return role == DeviceRole::work || role == DeviceRole::note || role == DeviceRole::overhead || role == DeviceRole::call;
}

// Tells of others, and is no event.
bool isSilent(DeviceRole role) { return role == DeviceRole::graph_node || role == DeviceRole::pending; }

bool hasArrow(DeviceRole role) { return role == DeviceRole::work || role == DeviceRole::note; }

std::string_view keep(EventBatch& batch, std::string_view text) {
  char* const memory = reinterpret_cast<char*>(batch.memory->take((text.size() + 7) / 8));
  if (!text.empty()) std::memcpy(memory, text.data(), text.size());
  return {memory, text.size()};
}

// Readers know it on a row of its own.
bool isWait(const DeviceEvent& event) {
  const DeviceActivity& activity = event.activity;
  return activity.type == ActivityType::CUDA_SYNC && activity.thread_id >= 0 && event.endNs() - event.startNs() > 1;
}

}  // namespace

DeviceSettle::DeviceSettle(DeviceEvents& events, const capture::Tables& tables, const std::vector<Leftovers>& leftovers, int64_t process_id,
                           TraceTotals& totals)
    : events_(events), tables_(tables), arg_bytes_left_(kArgBytesAlways + kArgBytesPerCaptureByte * events.captureBytes()) {
  if (!inTime()) return;
  findPlaces(process_id);
  if (!annotations_.make(events, leftovers)) events_.giveUp();
  if (!inTime()) return;
  totals.annotations_cut = annotations_.cut;
  addRows(totals);
}

bool DeviceSettle::inTime() {
  if (!events_.inTime()) annotations_.all.clear();
  return !events_.late();
}

void DeviceSettle::findPlaces(int64_t process_id) {
  for (DeviceEvent& event : events_.all) {
    const DeviceActivity& activity = event.activity;
    Placed& place = event.place;
    place.start_ns = event.startNs();
    place.end_ns = event.endNs();
    place.process_id = activity.process_id;
    place.thread_id = activity.thread_id >= 0 ? activity.thread_id : kDeviceLevelRow;
    if (isWait(event)) place.thread_id += kWaitingRows;
    if (activity.role == DeviceRole::overhead) {
      place.process_id = process_id;
      place.thread_id = kOverheadRow;
    }
    place.slice = isSlice(activity.role);
  }
}

void DeviceSettle::addRows(TraceTotals& totals) const {
  std::map<Queue, const capture::Tables::DeviceRow*> named;
  for (const capture::Tables::DeviceRow& row : tables_.deviceRows()) named[{row.process_id, row.thread_id}] = &row;
  std::map<Queue, bool> seen;  // whether it is a row of waits
  std::map<int64_t, bool> devices;
  std::map<Queue, bool> callers;  // threads without scopes
  bool overhead = false;
  for (const DeviceEvent& event : events_.all) {
    const DeviceRole role = event.activity.role;
    overhead |= role == DeviceRole::overhead;
    if (role == DeviceRole::call && !event.placed) callers[{event.place.process_id, event.place.thread_id}] = true;
    if (isSilent(role) || role == DeviceRole::call || role == DeviceRole::overhead ||
        (role == DeviceRole::memory && event.call != kNoEvent))
      continue;
    seen[{event.place.process_id, event.place.thread_id}] |= isWait(event);
    devices[event.place.process_id] = true;
  }
  for (const auto& [queue, waiting] : seen) {
    const auto [device, thread] = queue;
    const int64_t number = thread == kDeviceLevelRow ? -1 : waiting ? thread - kWaitingRows : thread;
    const auto found = named.find({device, number});
    TraceRow row{device, thread, 0, "", false};
    row.device = true;
    row.sort_index = thread == kDeviceLevelRow ? 0 : found != named.end() && number >= 0 ? found->second->sort_index : number;
    const std::string own = found != named.end() && number >= 0 ? std::string(found->second->name) : fmt::format("stream {} ", number);
    if (number != thread) row.stands_for = number;
    row.name = thread == kDeviceLevelRow ? fmt::format("Device {}", device) : waiting ? fmt::format("stream {} (sync)", number) : own;
    totals.rows.push_back(std::move(row));
  }
  for (const TraceRow& row : totals.rows) callers.erase({row.process_id, row.thread_id});
  for (const auto& [thread, ignored] : callers) {
    if (const auto found = named.find({kThisProcess, thread.second}); found != named.end()) {
      totals.rows.push_back({thread.first, thread.second, 0, std::string(found->second->name), false});
    }
  }
  for (const auto& [device, ignored] : devices) {
    const auto found = named.find({device, -1});
    constexpr int64_t kDevicesAfterProcesses = 5'000'000;
    totals.devices.push_back({device, found != named.end() ? std::string(found->second->name) : fmt::format("GPU {}", device),
                              found != named.end() ? found->second->sort_index : kDevicesAfterProcesses + device});
  }
  if (overhead) {
    TraceRow row{events_.all.front().place.process_id, kOverheadRow, 0, "profiler overhead", false};
    for (const DeviceEvent& event : events_.all) {
      if (event.activity.role == DeviceRole::overhead) row.process_id = event.place.process_id;
    }
    row.device = true;
    totals.rows.push_back(std::move(row));
  }
}

void DeviceSettle::addPlaces(std::vector<Placed*>& places) {
  if (!inTime()) return;
  for (DeviceAnnotations::Annotation& annotation : annotations_.all) places.push_back(&annotation.place);
  for (DeviceEvent& event : events_.all) {
    if (event.placed || isSilent(event.activity.role)) continue;
    if (event.activity.role == DeviceRole::memory && event.call != kNoEvent) continue;  // on the row of its call
    places.push_back(&event.place);
  }
}

void DeviceSettle::emit(EventBatch& batch, TraceTotals& totals, uint64_t& next_ordinal, const std::function<void()>& done) {
  base::DeadlineLook look(events_.deadline());
  for (const DeviceAnnotations::Annotation& annotation : annotations_.all) {
    if (look.passed()) break;
    annotations_.emit(annotation, batch, next_ordinal++);
    done();
  }
  size_t emitted = 0;
  for (; emitted < events_.all.size() && !look.passed(); ++emitted) {
    const DeviceEvent& event = events_.all[emitted];
    if (isSilent(event.activity.role)) continue;
    emitEvent(event, batch, totals, next_ordinal++);
    done();
  }
  addArrows(emitted, totals);
  if (emitted < events_.all.size()) events_.giveUp();
}

// From calls to what they asked for, where both are in the trace.
void DeviceSettle::addArrows(size_t emitted, TraceTotals& totals) const {
  for (size_t i = 0; i < emitted; ++i) {
    const DeviceEvent& event = events_.all[i];
    const DeviceEvent* const call = callOf(event);
    if (call == nullptr || event.call >= emitted || !hasArrow(event.activity.role)) continue;
    const uint64_t id = event.activity.correlation;
    totals.links.push_back({TraceLink::Kind::launch, id, call->place.row, event.place.row, call->startNs(), event.startNs(), id, id});
  }
}

void DeviceSettle::emitEvent(const DeviceEvent& from, EventBatch& batch, TraceTotals& totals, uint64_t ordinal) {
  const DeviceActivity& activity = from.activity;
  const DeviceEvent* const call = callOf(from);
  TraceEvent event;
  event.start_ns = from.place.start_ns;
  event.duration_ns = from.place.end_ns - from.place.start_ns;
  event.id = activity.correlation;
  event.ordinal = ordinal;
  event.row = from.place.row;
  event.depth = from.place.depth;
  event.name = activity.name;
  event.kind = kindOf(from.place);
  event.type = activity.type;
  event.flags = kEventGiven | kEventOfBackend;
  EventDetails& details = detailsOf(batch, event);
  details.linked_id = from.asker.id;
  capture::DeviceValues values(events_.valuesOf(from));
  if (activity.role == DeviceRole::memory) {
    event.kind = TraceEventKind::memory;
    event.type = ActivityType::CPU_INSTANT_EVENT;
    event.flags = 0;
    event.duration_ns = 0;
    event.name = 0;
    event.id = from.asker.id;
    if (call != nullptr) {
      event.row = call->place.row;
      event.depth = static_cast<uint16_t>(std::min(call->place.depth + 1, int{UINT16_MAX}));
    }
    details = {};
    details.address = static_cast<uint64_t>(values.next());
    details.bytes = values.next();
    details.total_allocated = static_cast<uint64_t>(values.next());
    details.total_reserved = static_cast<uint64_t>(values.next());
    details.device = {deviceTypeFromActivity(activity.type), static_cast<int>(activity.process_id)};
    ++totals.memory_events;
  } else if (activity.role == DeviceRole::counter) {
    event.kind = TraceEventKind::counter;
    const int64_t bits = values.next();
    std::memcpy(&details.value, &bits, sizeof details.value);
  } else {
    const bool before_launch = call != nullptr && activity.role == DeviceRole::work && from.startNs() < call->startNs();
    totals.before_launch += before_launch;
    details.metadata_json = keep(batch, argsOf(from, before_launch, totals));
    if ((call != nullptr && hasArrow(activity.role)) || activity.role == DeviceRole::call) {
      details.flow_id = static_cast<uint32_t>(activity.correlation);
      details.flow_type = kLaunchFlow;
      details.flow_start = activity.role == DeviceRole::call;
    }
  }
  batch.events.push_back(event);
}

bool DeviceSettle::sound(uint32_t form) {
  const auto [entry, fresh] = sound_forms_.try_emplace(form, false);
  if (!fresh) return entry->second;
  const capture::Tables::ResolvedSite* const text = tables_.site(form);
  return entry->second = text != nullptr && isSoundForm(text->name);
}

std::string DeviceSettle::argsOf(const DeviceEvent& event, bool before_launch, TraceTotals& totals) {
  std::string out;
  const uint32_t form = event.activity.form;
  bool cut = false;
  if (form != 0 && sound(form)) {
    const size_t most = std::min<uint64_t>(kMostArgBytes, arg_bytes_left_);
    out = deviceArgs(tables_.site(form)->name, events_.valuesOf(event), event.endNs() - event.startNs(), tables_, most, cut);
    arg_bytes_left_ -= out.size();
  }
  const auto add = [&](std::string_view key, std::string_view json) {
    out += fmt::format("{}\"{}\": {}", out.empty() ? "" : ", ", key, json);
  };
  if (cut) add("args cut", "true");
  totals.args_cut += cut ? 1 : 0;
  if (event.captured.id != 0) {
    add("Captured by External id", fmt::to_string(event.captured.id));
    const capture::Tables::ResolvedSite* const scope = tables_.site(event.captured.name);
    if (scope != nullptr) add("Captured in", base::quoted(scope->name));
  }
  if (before_launch) add("starts before its launch", "true");
  return out;
}

}  // namespace xsigma::profiler::assemble
