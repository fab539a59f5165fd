// ThreadStream: the records of one thread, turned into events batch by batch. Begins and ends are paired with a stack; an event comes out when it
// ends, so that nothing is kept but what is open.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "assemble/device_events.h"
#include "assemble/leftovers.h"
#include "capture/record_walk.h"
#include "capture/source.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::assemble {

class ThreadStream {
 public:
  ThreadStream(const Capture::Source& source, const ThreadPart& part, const TraceRow& row, int64_t realtime_offset_ns, bool with_modules);

  // Calls into device libraries that this thread made; they find their place among its scopes. Before the first fill().
  void setGuests(DeviceEvents& events) {
    guests_.events = &events;
    guests_.order = &events.guestsOf(part_.row);
  }
  // Appends events until the batch has `most` of them. False once the thread's records are at their end.
  bool fill(EventBatch& batch, size_t most);
  // After that: scopes without an end go there too.
  Leftovers finish();

 private:
  struct Frame {
    uint64_t begin_ticks = 0;
    int64_t start_ns = INT64_MIN;
    int64_t cursor_ns = INT64_MIN;  // nothing new inside it can start before
    uint64_t id = 0;
    uint64_t ordinal = 0;
    uint32_t site = 0;
    uint32_t records = kNoRecords;  // its details so far: in record_lists_
    uint32_t gap = 0;               // how many gaps there were before it began
    uint16_t depth = 0;
    bool crossed = false;           // outlived a scope around it
    uint32_t user_scope = kUnknownScope;  // the user's scope that it is, or that is around it: Leftovers::user_scopes
  };
  static constexpr uint32_t kNoRecords = UINT32_MAX;
  static constexpr uint32_t kUnknownScope = UINT32_MAX - 1;
  struct Guests {
    DeviceEvents* events = nullptr;
    const std::vector<uint32_t>* order = nullptr;
    size_t next = 0;
    std::vector<int64_t> open_ends;  // of those that are around the next one

    bool before(int64_t ns) const { return order != nullptr && next < order->size() && events->all[(*order)[next]].startNs() < ns; }
  };
  struct ExternalId {
    uint64_t id = 0;
    uint64_t ticks = 0;
  };

  bool nextSegment();
  bool lastMayTie(const EventBatch& batch) const;
  void take(EventBatch& batch, const capture::RawRecord& record);
  void begin(const capture::RawRecord& record);
  void end(EventBatch& batch, const capture::RawRecord& record);
  void close(EventBatch& batch, Frame& frame, int64_t end_ns, uint8_t flags);
  void takeEndRecords(Frame& frame);
  void endUnmatched(EventBatch& batch, uint32_t site, int64_t start_ns, int64_t end_ns);
  void point(EventBatch& batch, const capture::RawRecord& record, TraceEventKind kind, uint32_t name);
  void asyncBegin(const capture::RawRecord& record);
  void asyncEnd(const capture::RawRecord& record);
  void given(const capture::RawRecord& record);
  void placeGuests(int64_t before_ns);
  AskingScope askingScope();
  uint32_t userScope(size_t frame);
  void externalId(const capture::RawRecord& record);
  void keep(const capture::RawRecord& record, uint32_t& list);
  void keepForScope(EventBatch& batch, const capture::RawRecord& record);
  TraceEvent eventOf(const Frame& frame) const;
  uint16_t depth() const;
  uint64_t lastOrdinal() const;
  void attachModules(EventBatch& batch, TraceEvent& event) const;
  void noteLink(const TraceEvent& event, const uint32_t* words, size_t count);
  void dropRecords(uint32_t& list);
  int64_t toNs(uint64_t ticks);

  const Capture::Source& source_;
  ThreadPart part_;
  TraceRow row_;
  int64_t realtime_offset_ns_;
  bool with_modules_;
  const capture::Segment* segment_;
  capture::RecordWalk walk_;
  capture::TickClock::Piece clock_;
  bool in_segment_ = false;

  std::vector<Frame> frames_;  // the first is the row itself
  std::vector<Frame> async_frames_;
  Guests guests_;
  std::map<uint8_t, std::vector<ExternalId>> external_ids_;  // those that are open, by domain
  std::vector<std::vector<uint32_t>> record_lists_;
  std::vector<uint32_t> free_lists_;
  uint32_t pending_ = kNoRecords;  // details of the scope that begins next
  uint64_t pending_id_ = 0;
  bool pending_async_ = false;
  uint64_t next_id_ = 0;
  uint64_t next_ordinal_;
  uint32_t expected_number_ = 0;
  uint32_t gaps_ = 0;
  int64_t cursor_at_gap_ns_ = INT64_MIN;
  int64_t first_after_gap_ns_ = INT64_MAX;  // start of the first slice directly on the row since the last gap
  Leftovers leftovers_;
};

}  // namespace xsigma::profiler::assemble
