#include "xsigma/profiler/ledger.h"

#include <algorithm>
#include <unordered_set>

#include "capture/device_codec.h"
#include "capture/device_ledger.h"
#include "capture/record_walk.h"
#include "capture/source.h"

namespace xsigma::profiler {

namespace capture {
namespace {

// What the records of one thread say.
struct ThreadCount {
  struct Open {
    uint64_t begin_ticks;
    uint64_t id;
  };
  uint64_t recorded = 0;
  uint64_t written = 0;
  uint64_t late = 0;
  std::vector<Open> open;  // begun, and no end seen yet
};

// A whole end names its begin by its tick. Usually that is the innermost open scope.
bool takeOpen(std::vector<ThreadCount::Open>& open, uint64_t begin_ticks) {
  const auto found = std::find_if(open.rbegin(), open.rend(), [=](const ThreadCount::Open& each) { return each.begin_ticks == begin_ticks; });
  if (found == open.rend()) return false;
  open.erase(std::next(found).base());
  return true;
}

void count(const RawRecord& record, uint64_t& next_id, ThreadCount& thread, std::unordered_set<uint64_t>& ended_elsewhere, uint64_t& named_id) {
  switch (record.code()) {
    case Code::op_info: named_id = record.wide(4); break;
    case Code::begin:
      ++thread.recorded;
      thread.open.push_back({record.ticks, named_id != 0 ? named_id : next_id});
      ++next_id;
      named_id = 0;
      break;
    case Code::end:
    case Code::end_long:
      if (!takeOpen(thread.open, record.ticks - record.duration())) ++thread.recorded;  // its begin is gone; the end is whole by itself
      break;
    case Code::async_end:
      if (record.wide(3) != 0) ended_elsewhere.insert(record.wide(1));
      break;
    default: break;
  }
}

void settle(const ThreadTable& table, const ThreadCount& counted, bool ring, bool may_be_live, ThreadLedger& ledger) {
  ledger.recorded = counted.recorded;
  ledger.causes = table.causes;
  ledger.causes[static_cast<size_t>(LossCause::late)] += counted.late;
  ledger.extras_dropped = table.extras_dropped;
  // The table of a live capture was read after its records, and may know of more.
  const uint64_t written = std::max({may_be_live ? 0 : table.begins_closed, counted.written, counted.recorded + counted.late});
  const LossCause gap = ring ? LossCause::overwritten : LossCause::damaged;
  ledger.causes[static_cast<size_t>(gap)] += written - counted.recorded - counted.late;
  for (const uint64_t lost : ledger.causes) ledger.dropped += lost;
  ledger.attempted = ledger.recorded + ledger.dropped;
}

void add(ScopeCounts& total, const ScopeCounts& part) {
  total.attempted += part.attempted;
  total.recorded += part.recorded;
  total.unfinished += part.unfinished;
  total.dropped += part.dropped;
  total.extras_dropped += part.extras_dropped;
  for (size_t i = 0; i < kLossCauses; ++i) total.causes[i] += part.causes[i];
}

}  // namespace

Ledger countLedger(const Capture::Source& source) {
  const Capture::Source::Contents& contents = source.contents();
  const bool ring = contents.info.policy == CapturePolicy::ring;
  const bool may_be_live = !ring && !contents.info.closed && contents.damages.empty();
  std::vector<ThreadCount> counts(contents.tables.threads().size());
  std::unordered_set<uint64_t> ended_elsewhere;
  uint64_t named_id = 0;
  uint32_t last_thread = UINT32_MAX;
  RecordWalk walk;
  ThreadCount lost;  // records of a thread whose entry is damaged
  for (const Segment& segment : contents.segments) {
    ThreadCount& thread = segment.thread < counts.size() ? counts[segment.thread] : lost;
    if (segment.thread != last_thread) named_id = 0;
    last_thread = segment.thread;
    thread.written = std::max(thread.written, segment.begins_before + segment.begins + segment.late_begins);
    thread.late += segment.late_begins;
    uint64_t next_id = segment.id_base;
    walk.open(source, segment);
    for (RawRecord record; walk.next(record);) count(record, next_id, thread, ended_elsewhere, named_id);
  }

  Ledger ledger;
  ledger.device = countDevices(source);
  for (size_t i = 0; i < counts.size(); ++i) {
    const ThreadTable& table = contents.tables.threads()[i];
    if (isDeviceThread(table.info)) continue;
    ThreadLedger thread;
    thread.thread = table.info.thread;
    thread.system_id = table.info.system_id;
    thread.name = table.info.name;
    settle(table, counts[i], ring, may_be_live, thread);
    thread.unfinished = static_cast<uint64_t>(std::count_if(counts[i].open.begin(), counts[i].open.end(),
                                                            [&](const ThreadCount::Open& open) { return ended_elsewhere.count(open.id) == 0; }));
    add(ledger, thread);
    ledger.threads.push_back(std::move(thread));
  }
  ScopeCounts unattributed;
  unattributed.recorded = lost.recorded;
  unattributed.unfinished = lost.open.size();
  unattributed.causes = contents.unattributed;
  unattributed.extras_dropped = contents.extras_dropped;
  for (const uint64_t count : unattributed.causes) unattributed.dropped += count;
  unattributed.attempted = unattributed.recorded + unattributed.dropped;
  add(ledger, unattributed);
  ledger.names_dropped = contents.names_dropped;
  ledger.threads_dropped = contents.threads_dropped;
  return ledger;
}

}  // namespace capture
}  // namespace xsigma::profiler
