// Captures written by hand: every tick, thread, name and clock pair chosen, so that a test knows each nanosecond of what comes out.
//
//   HandCapture capture;                        // a tick is a nanosecond; the recording starts at tick kHandStart
//   HandThread& main = capture.thread(11, "main");
//   main.scope("outer", 100, 500);              // ticks after the start
//   Capture done = capture.finish(1000);        // stopped at tick 1000
#pragma once

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "capture/format.h"
#include "capture/image.h"
#include "capture/mark_codec.h"
#include "capture/op_codec.h"
#include "capture/sink.h"
#include "capture/source.h"
#include "capture/writer.h"
#include "xsigma/profiler/capture.h"
#include "xsigma/profiler/record_scope.h"

namespace xsigma::profiler::test {

inline constexpr uint64_t kHandStart = uint64_t{1} << 32;  // windows of 2^32 ticks begin at multiples of it
inline constexpr uint64_t kHandWindow = uint64_t{1} << 32;
inline constexpr int64_t kHandMonotonic = 50'000'000'000;
// A whole number of microseconds after the base that JSON times count from.
inline constexpr int64_t kHandRealtime = int64_t{7'889'238} * 1'000'000'000 * 220 + 3'000'000'000;
inline constexpr int64_t kHandProcess = 4242;

struct HandClock {
  uint64_t start_ticks = kHandStart;
  int64_t start_monotonic_ns = kHandMonotonic;
  int64_t start_realtime_ns = kHandRealtime;
  uint32_t ticks_per_ms = 1'000'000;
  std::vector<base::ClockPair> pairs;  // beside those of start and stop
};

class HandCapture;

// Ticks are given relative to the start of the capture.
class HandThread {
 public:
  HandThread(HandCapture& capture, capture::ThreadRecord* record);

  // Its id.
  uint64_t begin(std::string_view name, uint64_t ticks, const capture::OpDetails& details = {}, RecordScope scope = RecordScope::FUNCTION);
  void end(std::string_view name, uint64_t begin_ticks, uint64_t ticks, RecordScope scope = RecordScope::FUNCTION);
  uint64_t scope(std::string_view name, uint64_t begin_ticks, uint64_t end_ticks, const capture::OpDetails& details = {}) {
    const uint64_t id = begin(name, begin_ticks, details);
    end(name, begin_ticks, end_ticks);
    return id;
  }
  void instant(std::string_view name, uint64_t ticks);
  void counter(std::string_view name, uint64_t ticks, double value);
  void metadata(std::string_view key, std::string_view value, uint64_t ticks);
  void memory(uint64_t ticks, uint64_t address, int64_t bytes, uint64_t allocated, uint64_t reserved, Device device = {});
  void outOfMemory(uint64_t ticks, int64_t bytes, uint64_t allocated, uint64_t reserved, Device device = {});
  void asyncBegin(std::string_view name, uint64_t id, uint64_t ticks);
  void asyncEnd(std::string_view name, uint64_t id, uint64_t ticks);
  // What a RecordFunction leaves that began on another thread, or is asynchronous.
  void endElsewhere(std::string_view name, uint64_t id, uint64_t begin_ticks, uint64_t ticks);
  void given(const GivenEvent& event, uint64_t ticks);
  void outputs(InputList values, uint64_t scope_id, uint64_t ticks);
  void stack(std::vector<uint64_t> frames, uint64_t ticks);
  void perf(const std::vector<uint64_t>& values, uint64_t ticks);
  uint32_t index() const { return writer_->threadIndex(); }
  capture::Writer& writer() { return *writer_; }

 private:
  HandCapture& capture_;
  std::unique_ptr<capture::Writer> writer_;
};

class HandCapture {
 public:
  explicit HandCapture(HandClock clock = {},
                       CaptureOptions options = {.policy = CapturePolicy::stop_when_full, .byte_cap = size_t{8} << 20})
      : clock_(std::move(clock)), sink_(std::move(capture::Sink::create(options, false, ids_).value())) {}

  HandThread& thread(int32_t system_id, std::string_view name, uint64_t logical_id = 0) {
    capture::ThreadRecord* const record = sink_->addThread(system_id, logical_id != 0 ? logical_id : threads_.size() + 1, string(name));
    threads_.push_back(std::make_unique<HandThread>(*this, record));
    return *threads_.back();
  }
  void property(std::string_view key, std::string_view json) { sink_->addProperty(key, json); }

  // What threads write from here on is late.
  void freeze() {
    sink_->stop([this] {
      for (const std::unique_ptr<HandThread>& each : threads_) {
        capture::BlockHeader* const block = each->writer().block();
        if (block != &capture::no_block) block->frozen.store(block->cursor.load());
      }
    });
    stopped_ = true;
  }

  // The bytes of a capture that was stopped then; 0 = it was not, as when the program was killed.
  std::vector<char> bytes(uint64_t stop_ticks) {
    if (!stopped_) freeze();
    std::vector<char> image(sink_->image(), sink_->image() + sink_->pool().usedBytes());
    auto& header = *reinterpret_cast<capture::HeaderPage*>(image.data());
    header.file.process_id = kHandProcess;
    header.file.start_ticks = clock_.start_ticks;
    header.file.start_monotonic_ns = clock_.start_monotonic_ns;
    header.file.start_realtime_ns = clock_.start_realtime_ns;
    header.file.ticks_per_ms = clock_.ticks_per_ms;
    header.file.crc = base::crc32(&header.file, offsetof(capture::FileHeader, crc));
    std::memset(static_cast<void*>(header.clock), 0, sizeof header.clock);
    for (size_t i = 0; i < clock_.pairs.size(); ++i) {
      capture::ClockEntry entry{clock_.pairs[i].ticks, clock_.pairs[i].monotonic_ns, 1, 0};
      entry.crc = base::crc32(&entry, offsetof(capture::ClockEntry, crc));
      header.clock[i] = entry;
    }
    if (stop_ticks == 0) {
      header.stop = {};
    } else {
      header.stop.ticks = clock_.start_ticks + stop_ticks;
      header.stop.monotonic_ns = stopNs(stop_ticks);
      header.stop.crc = base::crc32(&header.stop, offsetof(capture::StopRecord, crc));
    }
    return image;
  }
  Capture finish(uint64_t stop_ticks) { return open(bytes(stop_ticks)); }

  static Capture open(std::vector<char> bytes) {
    std::shared_ptr<const capture::Image> image = capture::bytesImage(std::move(bytes));
    if (const Status status = capture::checkHeader(*image, "the bytes"); !status) throw std::runtime_error(status.message());
    return Capture(std::make_shared<Capture::Source>(std::move(image), ""));
  }

  uint64_t ticks(uint64_t since_start) const { return clock_.start_ticks + since_start; }
  uint32_t site(std::string_view name, RecordScope scope = RecordScope::FUNCTION, std::string_view file = {}, uint32_t line = 0) {
    const auto [entry, fresh] =
        sites_.try_emplace({std::string(name), scope, std::string(file), line}, static_cast<uint32_t>(sites_.size() + 1));
    if (fresh) sink_->addSite(entry->second, {string(name), string(file), line, scope});
    return entry->second;
  }
  capture::Sink& sink() { return *sink_; }

 private:
  uint32_t string(std::string_view text) {
    if (text.empty()) return 0;
    const auto [entry, fresh] = strings_.try_emplace(std::string(text), static_cast<uint32_t>(strings_.size() + 1));
    if (fresh) sink_->addString(entry->second, text);
    return entry->second;
  }
  // Where the clock is at the stop: as the last pair and the rate say.
  int64_t stopNs(uint64_t stop_ticks) const {
    base::ClockPair last{clock_.start_ticks, clock_.start_monotonic_ns};
    for (const base::ClockPair& pair : clock_.pairs) last = pair.ticks > last.ticks ? pair : last;
    const double ticks = static_cast<double>(static_cast<int64_t>(clock_.start_ticks + stop_ticks - last.ticks));
    return last.monotonic_ns + static_cast<int64_t>(ticks * 1e6 / clock_.ticks_per_ms);
  }

  HandClock clock_;
  std::atomic<uint64_t> ids_{1};
  std::unique_ptr<capture::Sink> sink_;
  std::map<std::string, uint32_t> strings_;
  std::map<std::tuple<std::string, RecordScope, std::string, uint32_t>, uint32_t> sites_;
  std::vector<std::unique_ptr<HandThread>> threads_;
  bool stopped_ = false;
};

inline HandThread::HandThread(HandCapture& capture, capture::ThreadRecord* record)
    : capture_(capture), writer_(std::make_unique<capture::Writer>()) {
  writer_->attach(capture.sink(), record, 1);
}

inline uint64_t HandThread::begin(std::string_view name, uint64_t ticks, const capture::OpDetails& details, RecordScope scope) {
  const uint64_t now = capture_.ticks(ticks);
  const uint32_t site = capture_.site(name, scope);
  const uint32_t most = capture_.sink().maxRecordWords();
  if (!writer_->ensure(mostDetailWords(details, true, most) + capture::kBeginWords, now)) throw std::runtime_error("the capture is full");
  uint32_t* at = writer_->next();
  const uint32_t words = putDetails(details, true, most, writer_->delta(now), at);
  at += words;
  at[0] = siteHead(capture::Code::begin, site);
  at[1] = writer_->delta(now);
  const uint64_t id = details.id != 0 ? details.id : writer_->nextId();
  writer_->commit(words + capture::kBeginWords, 1);
  return id;
}

inline void HandThread::end(std::string_view name, uint64_t begin_ticks, uint64_t ticks, RecordScope scope) {
  writer_->putEnd(capture_.site(name, scope), capture_.ticks(begin_ticks), capture_.ticks(ticks));
}
inline void HandThread::instant(std::string_view name, uint64_t ticks) { putInstant(*writer_, capture_.ticks(ticks), capture_.site(name)); }
inline void HandThread::counter(std::string_view name, uint64_t ticks, double value) {
  putCounter(*writer_, capture_.ticks(ticks), capture_.site(name), value);
}
inline void HandThread::metadata(std::string_view key, std::string_view value, uint64_t ticks) {
  putMetadata(*writer_, capture_.ticks(ticks), capture_.site(key), value);
}
inline void HandThread::memory(uint64_t ticks, uint64_t address, int64_t bytes, uint64_t allocated, uint64_t reserved, Device device) {
  putMemory(*writer_, capture_.ticks(ticks), capture::Code::memory, reinterpret_cast<const void*>(address), bytes, allocated, reserved,
            device);
}
inline void HandThread::outOfMemory(uint64_t ticks, int64_t bytes, uint64_t allocated, uint64_t reserved, Device device) {
  putMemory(*writer_, capture_.ticks(ticks), capture::Code::out_of_memory, nullptr, bytes, allocated, reserved, device);
}
inline void HandThread::asyncBegin(std::string_view name, uint64_t id, uint64_t ticks) {
  putAsyncBegin(*writer_, capture_.ticks(ticks), capture_.site(name), id);
}
inline void HandThread::asyncEnd(std::string_view name, uint64_t id, uint64_t ticks) {
  putAsyncEnd(*writer_, capture_.ticks(ticks), capture_.site(name), id, 0);
}
inline void HandThread::endElsewhere(std::string_view name, uint64_t id, uint64_t begin_ticks, uint64_t ticks) {
  putAsyncEnd(*writer_, capture_.ticks(ticks), capture_.site(name), id, capture_.ticks(begin_ticks));
}
inline void HandThread::given(const GivenEvent& event, uint64_t ticks) {
  putGiven(*writer_, capture_.ticks(ticks), capture_.site(event.name), event);
}
inline void HandThread::outputs(InputList values, uint64_t scope_id, uint64_t ticks) {
  const uint64_t now = capture_.ticks(ticks);
  const uint32_t most = capture_.sink().maxRecordWords();
  if (!writer_->ensure(capture::mostOutputWords(values, most), now)) throw std::runtime_error("the capture is full");
  writer_->commit(capture::putOutputs(values, scope_id, most, writer_->delta(now), writer_->next()), 0);
}
inline void HandThread::stack(std::vector<uint64_t> frames, uint64_t ticks) {
  const uint64_t now = capture_.ticks(ticks);
  if (!writer_->ensure(3, now)) throw std::runtime_error("the capture is full");
  uint32_t* const at = writer_->next();
  at[0] = sizedHead(capture::Code::stack, 3);
  at[1] = writer_->delta(now);
  at[2] = capture_.sink().internStack(frames.data(), static_cast<uint32_t>(frames.size()));
  writer_->commit(3, 0);
}
inline void HandThread::perf(const std::vector<uint64_t>& values, uint64_t ticks) {
  const uint64_t now = capture_.ticks(ticks);
  const auto words = static_cast<uint32_t>(2 + 2 * values.size());
  if (!writer_->ensure(words, now)) throw std::runtime_error("the capture is full");
  uint32_t* const at = writer_->next();
  at[0] = sizedHead(capture::Code::perf, words);
  at[1] = writer_->delta(now);
  for (size_t i = 0; i < values.size(); ++i) {
    at[2 + 2 * i] = static_cast<uint32_t>(values[i]);
    at[3 + 2 * i] = static_cast<uint32_t>(values[i] >> 32);
  }
  writer_->commit(words, 0);
}

// Makes a stretch of a thread unreadable, as damage does.
inline void loseSegment(std::vector<char>& bytes, uint32_t thread, uint32_t number) {
  for (size_t at = capture::kPageBytes; at + sizeof(capture::SegmentRecord) <= bytes.size(); at += 4) {
    capture::SegmentRecord segment;
    std::memcpy(&segment, bytes.data() + at, sizeof segment);
    if (segment.head != sizedHead(capture::Code::segment, capture::kSegmentWords) || segment.thread != thread || segment.number != number)
      continue;
    if (segment.crc != base::crc32(&segment, offsetof(capture::SegmentRecord, crc))) continue;
    bytes[at + offsetof(capture::SegmentRecord, crc)] ^= 0x55;
    return;
  }
  throw std::runtime_error("there is no such segment");
}

}  // namespace xsigma::profiler::test
