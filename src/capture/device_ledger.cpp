#include "capture/device_ledger.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <vector>

#include "capture/device_codec.h"

namespace xsigma::profiler::capture {
namespace {

using libkineto::ActivityType;

// Calls and kernels, joined by their correlation. Which functions launch is learnt from the kernels that are there, so that no list of names grows old.
struct Launches {
  struct Call {
    uint64_t correlation;
    uint32_t kind;
    int64_t thread;
    uint64_t start;
    uint64_t end;
  };
  std::vector<Call> calls;
  std::unordered_set<uint64_t> caused;             // correlations of kernels
  std::unordered_set<uint64_t> other;              // … of work that is none: a copy, a fill
  std::map<int64_t, std::vector<uint64_t>> nodes;  // by thread: when it put a node into a graph

  // What is called while a graph is captured makes a node of it, and launches nothing.
  bool isCaptured(const Call& call) const {
    const auto thread = nodes.find(call.thread);
    if (thread == nodes.end()) return false;
    const auto first = std::lower_bound(thread->second.begin(), thread->second.end(), call.start);
    return first != thread->second.end() && *first <= call.end;
  }

  // Calls of a launching kind that caused nothing.
  uint64_t without() {
    for (auto& [thread, ticks] : nodes) std::sort(ticks.begin(), ticks.end());
    std::unordered_set<uint32_t> launching;
    for (const Call& call : calls) {
      if (caused.count(call.correlation) != 0) launching.insert(call.kind);
    }
    return static_cast<uint64_t>(std::count_if(calls.begin(), calls.end(), [&](const Call& call) {
      return launching.count(call.kind) != 0 && caused.count(call.correlation) == 0 && other.count(call.correlation) == 0 &&
             !isCaptured(call);
    }));
  }
};

bool isKernel(ActivityType type) { return type == ActivityType::CONCURRENT_KERNEL; }

}  // namespace

DeviceLedger countDevices(const Capture::Source& source) {
  const Capture::Source::Contents& contents = source.contents();
  DeviceLedger ledger;
  uint64_t no_room = 0;
  for (const ThreadTable& thread : contents.tables.threads()) {
    if (!isDeviceThread(thread.info)) continue;
    ledger.watched = true;
    no_room += thread.extras_dropped;
  }
  if (!ledger.watched) return ledger;
  Launches launches;
  std::map<uint32_t, uint64_t> written;  // by the backend's entry in the table of threads
  uint64_t read = 0;
  std::map<std::string_view, uint64_t> unfinished;
  RecordWalk walk;
  DeviceRecord record;
  for (const Segment& segment : contents.segments) {
    if (segment.thread >= contents.threads.size() || !isDeviceThread(contents.threads[segment.thread])) continue;
    uint64_t& most = written[segment.thread];
    most = std::max(most, segment.begins_before + segment.begins);
    walk.open(source, segment);
    for (RawRecord raw; walk.next(raw);) {
      if (raw.code() != Code::device) continue;
      ++read;
      if (!decodeDevice(raw, record)) continue;
      const DeviceActivity& activity = record.activity;
      if (activity.role == DeviceRole::call) {
        ++ledger.calls;
        if (!activity.failed && activity.correlation != 0) {
          launches.calls.push_back({activity.correlation, activity.kind, activity.thread_id, activity.start, activity.end});
        }
      } else if (activity.role == DeviceRole::graph_node) {
        launches.nodes[activity.thread_id].push_back(activity.start);
      } else if (activity.role == DeviceRole::pending) {
        if (!isKernel(activity.type)) continue;
        const Tables::ResolvedSite* const name = contents.tables.site(activity.name);
        ++unfinished[name != nullptr ? name->name : std::string_view()];
        launches.caused.insert(activity.correlation);
      } else if (activity.role == DeviceRole::work) {
        (isKernel(activity.type) ? ledger.kernels : ledger.copies) += 1;
        (isKernel(activity.type) ? launches.caused : launches.other).insert(activity.correlation);
      }
    }
  }
  ledger.causes[static_cast<size_t>(DeviceLossCause::buffers_full)] =
      contents.tables.deviceLosses()[static_cast<size_t>(DeviceLoss::buffers_full)];
  ledger.causes[static_cast<size_t>(DeviceLossCause::unreadable)] =
      contents.tables.deviceLosses()[static_cast<size_t>(DeviceLoss::unreadable)];
  ledger.causes[static_cast<size_t>(DeviceLossCause::too_late)] = contents.tables.deviceLosses()[static_cast<size_t>(DeviceLoss::too_late)];
  ledger.not_counted = contents.tables.deviceLosses()[static_cast<size_t>(DeviceLoss::not_counted)];
  ledger.causes[static_cast<size_t>(DeviceLossCause::no_room)] = no_room;
  uint64_t all = 0;
  for (const auto& [thread, count] : written) all += count;
  ledger.causes[static_cast<size_t>(DeviceLossCause::overwritten)] = all > read ? all - read : 0;
  for (const uint64_t lost : ledger.causes) ledger.dropped += lost;
  // A launch without its kernel is one of those that were lost, while there are such.
  const uint64_t without = launches.without();
  ledger.pending = without > ledger.dropped ? without - ledger.dropped : 0;
  for (const auto& [name, count] : unfinished) {
    ledger.pending += count;
    ledger.pending_names.emplace_back(name, count);
  }
  ledger.launched = ledger.kernels + ledger.pending + ledger.dropped;
  return ledger;
}

}  // namespace xsigma::profiler::capture

namespace xsigma::profiler {

const char* toString(DeviceLossCause cause) noexcept {
  switch (cause) {
    case DeviceLossCause::buffers_full: return "buffers_full";
    case DeviceLossCause::unreadable: return "unreadable";
    case DeviceLossCause::no_room: return "no_room";
    case DeviceLossCause::overwritten: return "overwritten";
    case DeviceLossCause::too_late: return "too_late";
  }
  return "unknown";
}

}  // namespace xsigma::profiler
