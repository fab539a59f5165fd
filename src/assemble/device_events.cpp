#include "assemble/device_events.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "capture/device_codec.h"
#include "capture/record_walk.h"

namespace xsigma::profiler::assemble {

using capture::Code;
using capture::RawRecord;
using capture::TickClock;

const std::vector<uint32_t> DeviceEvents::kNone;

namespace {

// Pairs that lie so close that the time it takes to read them would bend the clock between them are left out.
std::vector<base::ClockPair> apart(const std::vector<base::ClockPair>& pairs) {
  constexpr int64_t kLeastNs = 5'000'000;
  std::vector<base::ClockPair> kept;
  for (const base::ClockPair& pair : pairs) {
    if (kept.empty() || pair.monotonic_ns - kept.back().monotonic_ns >= kLeastNs) kept.push_back(pair);
  }
  return kept;
}

// What is to be thought of a clock whose pairs lie too close to tell its pace: nanoseconds, unless they contradict that flatly.
uint32_t ticksPerMs(const std::vector<base::ClockPair>& pairs) {
  constexpr double kNanoseconds = 1e6;
  if (pairs.size() < 2) return kNanoseconds;
  const base::ClockPair& first = pairs.front();
  const base::ClockPair& last = pairs.back();
  if (last.ticks <= first.ticks || last.monotonic_ns <= first.monotonic_ns) return kNanoseconds;
  const double said = 1e6 * static_cast<double>(last.ticks - first.ticks) / static_cast<double>(last.monotonic_ns - first.monotonic_ns);
  const bool contradicts = said < 0.9 * kNanoseconds || said > 1.1 * kNanoseconds;
  return static_cast<uint32_t>(contradicts ? std::clamp(said, 1.0, 1e9) : kNanoseconds);
}

// Turns ticks of any clock into nanoseconds of the trace.
class Clocks {
 public:
  Clocks(const TickClock& host, std::map<uint8_t, std::vector<base::ClockPair>> pairs, int64_t realtime_offset_ns)
      : offset_ns_(realtime_offset_ns) {
    clocks_.resize(256);
    clocks_[kHostClock] = {&host, {}, {}};
    for (auto& [clock, ticks] : pairs) {
      if (clock == kHostClock) continue;
      for (base::ClockPair& pair : ticks) pair.monotonic_ns = host.toMonotonicNs(static_cast<uint64_t>(pair.monotonic_ns));
      Clock& made = clocks_[clock];
      made.own = std::make_unique<TickClock>(apart(ticks), ticksPerMs(ticks));
      made.clock = made.own.get();
    }
  }
  // A clock that nobody told of counts nanoseconds of CLOCK_MONOTONIC.
  uint64_t toNs(uint8_t clock, uint64_t ticks) {
    Clock& found = clocks_[clock];
    if (found.clock == nullptr) return ticks + static_cast<uint64_t>(offset_ns_);
    if (!found.piece.holds(ticks) || found.fresh) found.piece = found.clock->pieceOf(ticks);
    found.fresh = false;
    return static_cast<uint64_t>(found.piece.toNs(ticks) + offset_ns_);
  }

 private:
  struct Clock {
    const TickClock* clock = nullptr;
    std::unique_ptr<TickClock> own;
    TickClock::Piece piece;
    bool fresh = true;
  };
  std::vector<Clock> clocks_;
  int64_t offset_ns_;
};

bool isGuest(const DeviceEvent& event) { return event.activity.role == DeviceRole::call || event.activity.role == DeviceRole::graph_node; }

}  // namespace

DeviceEvents::DeviceEvents(const Capture::Source& source, int64_t realtime_offset_ns, const base::Deadline& deadline)
    : deadline_(deadline), capture_bytes_(source.image().size()) {
  if (!decode(source, realtime_offset_ns)) giveUp();
}

void DeviceEvents::giveUp() {
  late_ = true;
  all = {};
  values_ = {};
  guests_.clear();
}

bool DeviceEvents::decode(const Capture::Source& source, int64_t realtime_offset_ns) {
  const Capture::Source::Contents& contents = source.contents();
  std::map<uint8_t, std::vector<base::ClockPair>> pairs;
  capture::RecordWalk walk;
  capture::DeviceRecord decoded;
  base::DeadlineLook look(deadline_);
  for (const capture::Segment& segment : contents.segments) {
    if (segment.thread >= contents.threads.size() || !capture::isDeviceThread(contents.threads[segment.thread])) continue;
    walk.open(source, segment);
    for (RawRecord record; walk.next(record);) {
      if (look.passed()) return false;
      if (record.code() == Code::device_clock) {
        pairs[static_cast<uint8_t>(record.word(0))].push_back({record.wide(1), static_cast<int64_t>(record.wide(3))});
      }
      if (record.code() != Code::device || !capture::decodeDevice(record, decoded)) continue;
      DeviceEvent& event = all.emplace_back();
      event.activity = decoded.activity;
      event.values = values_.size();
      event.values_size = static_cast<uint32_t>(decoded.values.size());
      values_ += decoded.values;
    }
  }
  Clocks clocks(contents.clock, std::move(pairs), realtime_offset_ns);
  constexpr uint64_t kMostNs = INT64_MAX / 4;  // far beyond what is shown, and safe to count with
  for (DeviceEvent& event : all) {
    if (look.passed()) return false;
    DeviceActivity& activity = event.activity;
    activity.start = std::min(clocks.toNs(activity.clock, activity.start), kMostNs);
    activity.end = std::clamp(clocks.toNs(activity.clock, activity.end), activity.start, kMostNs);
    constexpr int64_t kMostId = int64_t{1} << 48;  // of devices, queues and threads: beyond lies damage
    activity.process_id = std::clamp<int64_t>(activity.process_id, -1, kMostId);
    activity.thread_id = std::clamp<int64_t>(activity.thread_id, -1, kMostId);
  }
  return true;
}

void DeviceEvents::assignGuests(const std::vector<TraceRow>& rows, const std::vector<ThreadPart>& parts) {
  if (!inTime()) return;
  guests_.assign(rows.size(), {});
  // By the system's number, which a later thread may have got again, and by time.
  std::map<std::pair<int64_t, int64_t>, const ThreadPart*> threads;
  for (const ThreadPart& part : parts) threads.emplace(std::pair(rows[part.row].thread_id, part.first_ns), &part);
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (!isGuest(all[i])) continue;
    const int64_t thread = all[i].activity.thread_id;
    auto next = threads.upper_bound({thread, all[i].startNs()});
    if (next != threads.begin() && std::prev(next)->first.first == thread) --next;  // the last that had begun by then
    if (next != threads.end() && next->first.first == thread) guests_[next->second->row].push_back(i);
  }
  for (std::vector<uint32_t>& guests : guests_) {
    std::sort(guests.begin(), guests.end(), [this](uint32_t a, uint32_t b) {
      const DeviceActivity& left = all[a].activity;
      const DeviceActivity& right = all[b].activity;
      return left.start != right.start ? left.start < right.start : left.end != right.end ? left.end > right.end : a < b;
    });
  }
}

void DeviceEvents::linkNodes() {
  std::unordered_map<uint64_t, uint32_t> made;  // node → the event that tells of it
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].activity.role != DeviceRole::graph_node) continue;
    const auto [entry, fresh] = made.emplace(all[i].activity.node, i);
    if (!fresh && all[i].activity.origin != 0) entry->second = i;  // a copy is told of twice: that it was made, then what of
  }
  if (made.empty()) return;
  for (DeviceEvent& event : all) {
    if (event.activity.role != DeviceRole::work || event.activity.node == 0) continue;
    auto found = made.find(event.activity.node);
    constexpr int kMostCopies = 16;  // a graph of a graph of a graph …
    for (int copies = 0; found != made.end() && all[found->second].activity.origin != 0 && copies < kMostCopies; ++copies) {
      const auto origin = made.find(all[found->second].activity.origin);
      if (origin == made.end()) break;
      found = origin;
    }
    if (found != made.end()) event.captured = all[found->second].asker;
  }
}

bool DeviceEvents::linkCalls(bool to_scopes) {
  std::unordered_map<uint64_t, uint32_t> calls;
  base::DeadlineLook look(deadline_);
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (look.passed()) return false;
    DeviceEvent& event = all[i];
    if (!to_scopes) event.asker = {};
    if (event.activity.role == DeviceRole::call && event.activity.correlation != 0) calls.emplace(event.activity.correlation, i);
  }
  for (DeviceEvent& event : all) {
    if (look.passed()) return false;
    if (isGuest(event) || event.activity.correlation == 0) continue;
    const auto found = calls.find(event.activity.correlation);
    if (found == calls.end()) continue;
    event.call = found->second;
    event.asker = all[found->second].asker;
  }
  return true;
}

void DeviceEvents::link(bool to_scopes) {
  if (!linkCalls(to_scopes)) return giveUp();
  if (to_scopes && inTime()) linkNodes();
}

}  // namespace xsigma::profiler::assemble
