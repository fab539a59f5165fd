#include "assemble/thread_stream.h"

#include <algorithm>

#include "assemble/batch_memory.h"
#include "assemble/details.h"
#include "capture/mark_codec.h"
#include "capture/op_codec.h"

namespace xsigma::profiler::assemble {

using capture::Code;
using capture::RawRecord;
using libkineto::ActivityType;

namespace {

constexpr uint32_t kDeepest = UINT16_MAX;
constexpr uint64_t kUnmatchedOrdinals = uint64_t{1} << 52;  // where the begin is lost, so is its place among the others

ActivityType typeOf(const Capture::Source& source, uint32_t site) {
  const capture::Tables::ResolvedSite* const found = source.contents().tables.site(site);
  return found != nullptr && found->scope == RecordScope::USER_SCOPE ? ActivityType::USER_ANNOTATION : ActivityType::CPU_OP;
}

// Events come in the order of their ends. Where slices share both times, readers take the first of them for the outer one: what has just ended goes before
// those inside it that tie with it. Only what lies at its very end can be between.
void putBeforeTies(std::vector<TraceEvent>& events) {
  const TraceEvent outer = events.back();
  const int64_t end_ns = outer.start_ns + outer.duration_ns;
  size_t place = events.size() - 1;
  for (size_t at = place; at-- > 0;) {
    const TraceEvent& event = events[at];
    if (event.kind == TraceEventKind::async_slice) continue;  // stands nowhere
    if (event.row != outer.row || event.ordinal < outer.ordinal) break;  // began before it: not inside
    const bool ties = event.kind == TraceEventKind::slice && event.start_ns == outer.start_ns && event.duration_ns == outer.duration_ns;
    if (ties) {
      place = at;
    } else if (event.duration_ns != 0 || event.start_ns != end_ns) {
      break;
    }
  }
  std::rotate(events.begin() + static_cast<std::ptrdiff_t>(place), events.end() - 1, events.end());
}

}  // namespace

ThreadStream::ThreadStream(const Capture::Source& source, const ThreadPart& part, const TraceRow& row, int64_t realtime_offset_ns, bool with_modules)
    : source_(source),
      part_(part),
      row_(row),
      realtime_offset_ns_(realtime_offset_ns),
      with_modules_(with_modules),
      segment_(part.first),
      next_ordinal_(part.first_ordinal) {
  frames_.emplace_back();
  clock_.first_tick = 1;
  clock_.end_tick = 0;  // holds nothing yet
}

int64_t ThreadStream::toNs(uint64_t ticks) {
  if (!clock_.holds(ticks)) [[unlikely]] clock_ = source_.contents().clock.pieceOf(ticks);
  return clock_.toNs(ticks) + realtime_offset_ns_;
}

bool ThreadStream::nextSegment() {
  while (segment_ != part_.last) {
    const capture::Segment& segment = *segment_++;
    if (segment.number != expected_number_) {
      ++gaps_;
      cursor_at_gap_ns_ = frames_.front().cursor_ns;
      first_after_gap_ns_ = INT64_MAX;
      dropRecords(pending_);
      pending_id_ = 0;
      pending_async_ = false;
    }
    expected_number_ = segment.number + 1;
    next_id_ = segment.id_base;
    if (walk_.open(source_, segment)) return true;
  }
  return false;
}

bool ThreadStream::fill(EventBatch& batch, size_t most) {
  RawRecord record;
  while (batch.events.size() < most) {
    if (!in_segment_ && !(in_segment_ = nextSegment())) return false;
    while (walk_.next(record)) {
      take(batch, record);
      if (batch.events.size() >= most && !lastMayTie(batch)) return true;
    }
    in_segment_ = false;
  }
  return true;
}

// The scope around the last event began with it, and may end with it: they belong into one batch.
bool ThreadStream::lastMayTie(const EventBatch& batch) const {
  return frames_.size() > 1 && frames_.back().start_ns == batch.events.back().start_ns;
}

void ThreadStream::take(EventBatch& batch, const RawRecord& record) {
  switch (record.code()) {
    case Code::begin: return begin(record);
    case Code::end:
    case Code::end_long: return end(batch, record);
    case Code::async_begin: return asyncBegin(record);
    case Code::async_end: return asyncEnd(record);
    case Code::instant: return point(batch, record, TraceEventKind::instant, record.word(0));
    case Code::counter: return point(batch, record, TraceEventKind::counter, record.word(0));
    case Code::memory: return point(batch, record, TraceEventKind::memory, 0);
    case Code::out_of_memory: return point(batch, record, TraceEventKind::out_of_memory, 0);
    case Code::given_event: return given(record);
    case Code::op_info:
      pending_id_ = record.wide(4);
      pending_async_ = (record.word(7) & 1) != 0;
      return keep(record, pending_);
    case Code::stack:
    case Code::perf: return keep(record, pending_);
    case Code::inputs:
    case Code::metadata: return keepForScope(batch, record);
    case Code::external_push:
    case Code::external_pop: return externalId(record);
    default: return;  // of a later version
  }
}

void ThreadStream::begin(const RawRecord& record) {
  Frame frame;
  frame.begin_ticks = record.ticks;
  frame.start_ns = toNs(record.ticks);
  if (guests_.before(frame.start_ns)) [[unlikely]] placeGuests(frame.start_ns);
  frame.cursor_ns = std::max(frame.start_ns, frames_.back().cursor_ns);
  frame.id = pending_id_ != 0 ? pending_id_ : next_id_;
  frame.ordinal = next_ordinal_++;
  frame.site = record.site();
  frame.records = pending_;
  frame.gap = gaps_;
  frame.depth = depth();
  ++next_id_;
  (pending_async_ ? async_frames_ : frames_).push_back(frame);
  pending_ = kNoRecords;
  pending_id_ = 0;
  pending_async_ = false;
}

uint16_t ThreadStream::depth() const { return static_cast<uint16_t>(std::min<size_t>(frames_.size() - 1, kDeepest)); }

// Points come after the scope that began last.
uint64_t ThreadStream::lastOrdinal() const { return next_ordinal_ == part_.first_ordinal ? next_ordinal_ : next_ordinal_ - 1; }

TraceEvent ThreadStream::eventOf(const Frame& frame) const {
  TraceEvent event;
  event.start_ns = frame.start_ns;
  event.id = frame.id;
  event.ordinal = frame.ordinal;
  event.row = part_.row;
  event.name = frame.site;
  event.type = typeOf(source_, frame.site);
  event.depth = frame.depth;
  return event;
}

// The frame is off its stack already: what is on top is around it.
void ThreadStream::close(EventBatch& batch, Frame& frame, int64_t end_ns, uint8_t flags) {
  Frame& around = frames_.back();
  TraceEvent event = eventOf(frame);
  event.duration_ns = std::max<int64_t>(0, end_ns - frame.start_ns);
  event.flags = flags;
  const bool fits = !frame.crossed && frame.start_ns >= around.cursor_ns && end_ns >= frame.cursor_ns;
  if (fits) {
    if (frames_.size() == 1) first_after_gap_ns_ = std::min(first_after_gap_ns_, frame.start_ns);
    around.cursor_ns = end_ns;
    leftovers_.has_slices = true;
  } else {
    event.kind = TraceEventKind::async_slice;
    event.flags |= kEventOverlaps;
    around.cursor_ns = std::max(around.cursor_ns, frame.cursor_ns);
    ++leftovers_.overlapping;
  }
  if (frame.records != kNoRecords) {
    const std::vector<uint32_t>& words = record_lists_[frame.records];
    attachDetails(batch, event, words.data(), words.size());
    noteLink(event, words.data(), words.size());
    dropRecords(frame.records);
  }
  if (with_modules_) attachModules(batch, event);
  leftovers_.unfinished += (flags & kEventUnfinished) != 0;
  batch.events.push_back(event);
  if (fits) putBeforeTies(batch.events);
}

void ThreadStream::attachModules(EventBatch& batch, TraceEvent& event) const {
  const auto is_module = [&](const Frame& frame) {
    const capture::Tables::ResolvedSite* const site = source_.contents().tables.site(frame.site);
    return site != nullptr && site->scope == RecordScope::CUSTOM_CLASS;
  };
  const auto around = std::count_if(frames_.begin() + 1, frames_.end(), is_module);
  if (around == 0) return;
  auto* const modules = reinterpret_cast<uint32_t*>(batch.memory->take((static_cast<size_t>(around) + 1) / 2));
  EventDetails& details = detailsOf(batch, event);
  details.modules = modules;
  for (auto frame = frames_.begin() + 1; frame != frames_.end(); ++frame) {
    if (is_module(*frame)) modules[details.module_count++] = frame->site;
  }
}

void ThreadStream::end(EventBatch& batch, const RawRecord& record) {
  const uint64_t begin_ticks = record.ticks - record.duration();
  const int64_t end_ns = toNs(record.ticks);
  if (guests_.before(end_ns)) [[unlikely]] placeGuests(end_ns);
  const auto ended = [&](const Frame& frame) { return frame.begin_ticks == begin_ticks && frame.site == record.site(); };
  if (frames_.size() > 1 && ended(frames_.back())) [[likely]] {
    Frame frame = frames_.back();
    frames_.pop_back();
    if (pending_ != kNoRecords) [[unlikely]] takeEndRecords(frame);
    return close(batch, frame, end_ns, 0);
  }
  if (const auto async = std::find_if(async_frames_.begin(), async_frames_.end(), ended); async != async_frames_.end()) {
    Frame frame = *async;
    async_frames_.erase(async);
    TraceEvent event = eventOf(frame);
    event.kind = TraceEventKind::async_slice;
    event.duration_ns = std::max<int64_t>(0, end_ns - frame.start_ns);
    if (pending_ != kNoRecords) takeEndRecords(frame);
    if (frame.records != kNoRecords) {
      attachDetails(batch, event, record_lists_[frame.records].data(), record_lists_[frame.records].size());
      noteLink(event, record_lists_[frame.records].data(), record_lists_[frame.records].size());
    }
    dropRecords(frame.records);
    if (with_modules_) attachModules(batch, event);
    batch.events.push_back(event);
    return;
  }
  const auto found = std::find_if(frames_.rbegin(), frames_.rend() - 1, ended);
  if (found == frames_.rend() - 1) {
    dropRecords(pending_);  // what was written for this end
    return endUnmatched(batch, record.site(), toNs(begin_ticks), end_ns);
  }
  const auto index = static_cast<size_t>(frames_.rend() - found) - 1;
  // Those above it whose ends a gap has swallowed end here too; others outlive it.
  while (frames_.size() - 1 > index && frames_.back().gap != gaps_) {
    Frame frame = frames_.back();
    frames_.pop_back();
    close(batch, frame, std::max(end_ns, frame.cursor_ns), kEventUnfinished);
  }
  std::vector<Frame> outliving(frames_.begin() + static_cast<std::ptrdiff_t>(index) + 1, frames_.end());
  frames_.resize(index + 1);
  Frame frame = frames_.back();
  frames_.pop_back();
  if (pending_ != kNoRecords) takeEndRecords(frame);
  for (const Frame& each : outliving) frame.cursor_ns = std::max(frame.cursor_ns, each.cursor_ns);
  close(batch, frame, end_ns, 0);
  for (Frame& each : outliving) {
    each.crossed = true;
    each.cursor_ns = std::max(each.cursor_ns, frames_.back().cursor_ns);
    frames_.push_back(each);
  }
}

// What was written for the end of a scope comes after what was written for its begin.
void ThreadStream::takeEndRecords(Frame& frame) {
  if (frame.records != kNoRecords) {
    std::vector<uint32_t>& words = record_lists_[frame.records];
    words.insert(words.end(), record_lists_[pending_].begin(), record_lists_[pending_].end());
  }
  dropRecords(pending_);
}

// A ring has overwritten the begin, or the scope began on another thread. What encloses all since the gap still nests.
void ThreadStream::endUnmatched(EventBatch& batch, uint32_t site, int64_t start_ns, int64_t end_ns) {
  Frame& row = frames_.front();
  TraceEvent event;
  event.start_ns = start_ns;
  event.duration_ns = std::max<int64_t>(0, end_ns - start_ns);
  event.row = part_.row;
  event.name = site;
  event.type = typeOf(source_, site);
  event.flags = kEventUnmatched;
  event.ordinal = kUnmatchedOrdinals + (uint64_t{part_.row} << 32) + UINT32_MAX - leftovers_.unmatched;  // what ends later began earlier
  const bool encloses = frames_.size() == 1 && start_ns <= first_after_gap_ns_ && start_ns >= cursor_at_gap_ns_ && end_ns >= row.cursor_ns;
  if (encloses) {
    first_after_gap_ns_ = start_ns;
    row.cursor_ns = end_ns;
    leftovers_.has_slices = true;
  } else {
    event.kind = TraceEventKind::async_slice;
    event.flags |= kEventOverlaps;
    ++leftovers_.overlapping;
  }
  ++leftovers_.unmatched;
  batch.events.push_back(event);
}

void ThreadStream::point(EventBatch& batch, const RawRecord& record, TraceEventKind kind, uint32_t name) {
  TraceEvent event;
  event.start_ns = toNs(record.ticks);
  event.row = part_.row;
  event.name = name;
  event.kind = kind;
  event.type = ActivityType::CPU_INSTANT_EVENT;
  event.depth = depth();
  event.id = frames_.size() > 1 ? frames_.back().id : 0;
  event.ordinal = lastOrdinal();
  if (kind != TraceEventKind::instant) attachOwnDetails(batch, event, record);
  leftovers_.memory_events += kind == TraceEventKind::memory;
  leftovers_.last_ns = std::max(leftovers_.last_ns, event.start_ns);
  batch.events.push_back(event);
}

void ThreadStream::asyncBegin(const RawRecord& record) {
  OpenScope open;
  open.event.start_ns = toNs(record.ticks);
  open.event.id = record.wide(1);
  open.event.row = part_.row;
  open.event.name = record.word(0);
  open.event.kind = TraceEventKind::async_slice;
  open.event.type = ActivityType::USER_ANNOTATION;
  open.event.ordinal = UINT64_MAX;
  open.marked = true;
  leftovers_.open.push_back(std::move(open));
}

void ThreadStream::asyncEnd(const RawRecord& record) {
  AsyncEnd end;
  end.name = record.word(0);
  end.id = record.wide(1);
  end.row = part_.row;
  end.end_ns = toNs(record.ticks);
  end.scope = record.wide(3) != 0;
  leftovers_.async_ends.push_back(end);
}

void ThreadStream::given(const RawRecord& record) {
  const auto start_ns = static_cast<int64_t>(record.wide(capture::kGivenStart));
  const auto duration_ns = static_cast<int64_t>(record.wide(capture::kGivenDuration));
  const bool own_row = static_cast<int64_t>(record.wide(capture::kGivenProcess)) == row_.process_id &&
                       static_cast<int64_t>(record.wide(capture::kGivenThread)) == row_.thread_id;
  Frame& around = frames_.back();
  const auto type = static_cast<ActivityType>(record.word(capture::kGivenType));
  // Reported in its place: after what came before it in the scope that is open, and over by now.
  const bool fits = own_row && duration_ns >= 0 && type != ActivityType::CPU_INSTANT_EVENT && start_ns >= around.cursor_ns &&
                    start_ns <= INT64_MAX - duration_ns && start_ns + duration_ns <= toNs(record.ticks) &&
                    record.word(capture::kGivenFlow) == 0;
  leftovers_.given.push_back({part_.row, fits, depth(), {record.words, record.words + record.size}});
  if (!fits) return;
  if (frames_.size() == 1) first_after_gap_ns_ = std::min(first_after_gap_ns_, start_ns);
  around.cursor_ns = start_ns + duration_ns;
  leftovers_.has_slices = true;
}

void ThreadStream::keep(const RawRecord& record, uint32_t& list) {
  if (list == kNoRecords) {
    if (free_lists_.empty()) {
      list = static_cast<uint32_t>(record_lists_.size());
      record_lists_.emplace_back();
    } else {
      list = free_lists_.back();
      free_lists_.pop_back();
    }
  }
  std::vector<uint32_t>& words = record_lists_[list];
  words.insert(words.end(), record.words, record.words + record.size);
}

void ThreadStream::keepForScope(EventBatch& batch, const RawRecord& record) {
  if (record.code() == Code::inputs) {
    if (static_cast<InputRole>(record.word(0) & 0xFF) != InputRole::outputs) return keep(record, pending_);
    const uint64_t id = record.wide(1);
    for (std::vector<Frame>* const frames : {&frames_, &async_frames_}) {
      const auto found = std::find_if(frames->rbegin(), frames->rend(), [id](const Frame& frame) { return frame.id == id; });
      if (id != 0 && found != frames->rend()) return keep(record, found->records);
    }
    return;
  }
  if (frames_.size() > 1) return keep(record, frames_.back().records);
  // No scope is open: it stands for itself, as an instant with its key for a name.
  point(batch, record, TraceEventKind::instant, record.word(0));
  attachDetails(batch, batch.events.back(), record.words, record.size);
}

void ThreadStream::noteLink(const TraceEvent& event, const uint32_t* words, size_t count) {
  for (size_t at = 0; at < count; at += capture::headUnits(words[at])) {
    const RawRecord record{words + at, capture::headUnits(words[at]), 0};
    if (record.code() != Code::op_info) continue;
    const auto sequence_number = static_cast<int64_t>(record.wide(0));
    const uint64_t forward_thread = record.word(6);
    if (sequence_number < 0) return;
    if (forward_thread != 0) {
      leftovers_.backward_ops.push_back({forward_thread, sequence_number, event.id, event.start_ns, part_.row});
    } else {
      leftovers_.forward_ops.push_back({sequence_number, event.id, event.start_ns});
    }
    return;
  }
}

void ThreadStream::dropRecords(uint32_t& list) {
  if (list == kNoRecords) return;
  record_lists_[list].clear();
  free_lists_.push_back(list);
  list = kNoRecords;
}

Leftovers ThreadStream::finish() {
  placeGuests(INT64_MAX);
  leftovers_.last_ns = std::max(leftovers_.last_ns, frames_.front().cursor_ns);
  for (const Frame& frame : frames_) leftovers_.last_ns = std::max(leftovers_.last_ns, frame.cursor_ns);
  const int64_t thread_end_ns = leftovers_.last_ns;
  const auto leave = [&](const Frame& frame, const Frame& around, TraceEventKind kind) {
    OpenScope open;
    open.event = eventOf(frame);
    const bool overlaps = frame.crossed || frame.start_ns < around.cursor_ns;
    open.event.kind = overlaps ? TraceEventKind::async_slice : kind;
    open.event.flags = overlaps && kind == TraceEventKind::slice ? kEventOverlaps : 0;
    open.thread_end_ns = thread_end_ns;
    if (frame.records != kNoRecords) {
      open.records = record_lists_[frame.records];
      noteLink(open.event, open.records.data(), open.records.size());
    }
    leftovers_.open.push_back(std::move(open));
  };
  // They all last until the end: the outer ones first, as readers want those that tie.
  for (size_t i = 1; i < frames_.size(); ++i) leave(frames_[i], frames_[i - 1], TraceEventKind::slice);
  for (const Frame& frame : async_frames_) leave(frame, frames_.front(), TraceEventKind::async_slice);
  leftovers_.end_ordinal = next_ordinal_;
  return std::move(leftovers_);
}

}  // namespace xsigma::profiler::assemble
