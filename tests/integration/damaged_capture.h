// A small capture with everything in it, as bytes to be cut and flipped, and its records as values to compare.
#pragma once

#include <fstream>
#include <iterator>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "capture/source.h"
#include "capture_reading.h"
#include "xsigma/profiler/collection.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {

using Bytes = std::vector<char>;

// Every byte; one thread alone has no races, so a few will do where they are looked for.
inline constexpr size_t kByteStep = kThreadSanitized ? 31 : 1;

inline Bytes readBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void writeBytes(const std::string& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// What openCapture does, without the file.
inline Expected<Capture> openBytes(Bytes bytes) {
  std::shared_ptr<const capture::Image> image = capture::bytesImage(std::move(bytes));
  if (const Status status = capture::checkHeader(*image, "the bytes"); !status) return status;
  return Capture(std::make_shared<Capture::Source>(std::move(image), ""));
}

// One record: where it is, what it says, and its names apart, as they come from the tables.
struct PlainRecord {
  uint64_t offset = 0;
  uint32_t thread = 0;
  RecordKind kind = RecordKind::scope_begin;
  std::string fields;
  std::string names;

  bool operator==(const PlainRecord&) const = default;
};

namespace plain {

template <typename T>
void add(std::string& to, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void add(std::string& to, std::string_view text) {
  add(to, text.size());
  to += text;
}

inline void add(std::string& to, const RecordedInput& input) {
  add(to, input.kind);
  add(to, input.integer);
  add(to, input.real);
  add(to, std::string_view(input.text));
  add(to, input.address);
  for (const int64_t size : input.sizes) add(to, size);
  for (const int64_t stride : input.strides) add(to, stride);
  for (const RecordedInput& item : input.items) add(to, item);
}

}  // namespace plain

inline PlainRecord toPlain(const CaptureRecord& record) {
  PlainRecord out{record.offset, record.thread, record.kind, {}, {}};
  std::string& fields = out.fields;
  for (const uint64_t number : {record.ticks, record.begin_ticks, record.id, record.address, static_cast<uint64_t>(record.bytes), record.total_allocated,
                                record.total_reserved, static_cast<uint64_t>(record.sequence_number), record.forward_thread,
                                static_cast<uint64_t>(record.debug_handle)}) {
    plain::add(fields, number);
  }
  plain::add(fields, record.value);
  plain::add(fields, record.text);
  plain::add(fields, record.domain);
  plain::add(fields, record.role);
  plain::add(fields, record.async);
  for (const RecordedInput& input : record.inputs) plain::add(fields, input);
  for (const std::string& key : record.keys) plain::add(fields, std::string_view(key));
  const GivenEvent& given = record.given;
  for (const int64_t number : {given.start_ns, given.duration_ns, given.process_id, given.thread_id, static_cast<int64_t>(given.correlation_id),
                               static_cast<int64_t>(given.flow_id)}) {
    plain::add(fields, number);
  }
  plain::add(fields, given.metadata_json);
  plain::add(out.names, record.name);
  plain::add(out.names, record.file);
  return out;
}

inline std::vector<PlainRecord> plainRecords(const Capture& capture) {
  std::vector<PlainRecord> records;
  capture.forEachRecord([&](const CaptureRecord& record) { records.push_back(toPlain(record)); });
  return records;
}

// Looks at everything that a capture has; the sum keeps the looks from being optimised away.
inline uint64_t readEverything(const Capture& capture) {
  uint64_t sum = capture.threads().size() + capture.damages().size();
  const Ledger ledger = capture.ledger();
  expectLedgerAddsUp(ledger);
  return sum + ledger.attempted + static_cast<uint64_t>(capture.toMonotonicNs(0)) + static_cast<uint64_t>(capture.toMonotonicNs(UINT64_MAX / 2));
}

inline void putOneOfEach(RecordQueue& queue, int number) {
  const int64_t sizes[] = {2, number};
  const InputValue inputs[] = {TensorInfo{.data = sizes, .sizes = sizes, .dim = 2, .dtype = "float"}, 7, 2.5, "text", true, nullptr};
  queue.counter("damaged.counter", number);
  const OpToken op = queue.begin_op("damaged.op");
  queue.instant("damaged.instant");
  queue.metadata("damaged.key", "a value of " + std::to_string(number));
  queue.memory(&queue, 64 + number, 1000, 2000, {DeviceType::CPU, -1});
  queue.outOfMemory(1 << 20, 1000, 2000, {DeviceType::CPU, -1});
  queue.pushExternalId(static_cast<uint64_t>(number), 1);
  queue.popExternalId(1);
  queue.given({.start_ns = 5, .duration_ns = 6, .process_id = 7, .thread_id = 8, .correlation_id = 9, .name = "damaged.given", .metadata_json = "\"a\": 1"});
  {
    RecordFunction function(RecordScope::FUNCTION);
    if (function.isActive()) function.before("damaged.function", InputList(inputs), 11);
    const OpToken with_details = queue.begin_op(function);
    queue.end_op(with_details);
  }
  queue.end_op(op);
}

struct SmallCapture {
  Bytes live;    // as a killed program would leave it, before the last records
  Bytes closed;  // after a stop in good order, with drops
};

// Two threads. The second one leaves a half-full block at a low offset, in which the first one goes on after its own block is full: in the file the
// stretches of the first thread are out of order.
inline SmallCapture makeSmallCapture() {
  const TemporaryFile file("small.xst");
  RecordQueue queue = std::move(RecordQueue::create({.byte_cap = 24 * 1024, .path = file.path}).value());
  std::latch here(1);
  std::latch leave(1);
  std::thread other([&] {
    setThreadName("damaged.other");
    putOneOfEach(queue, 0);
    here.count_down();
    leave.wait();
  });
  here.wait();
  for (int i = 0; i < 5; ++i) putOneOfEach(queue, i);
  leave.count_down();
  other.join();
  for (int i = 5; i < 12; ++i) putOneOfEach(queue, i);
  SmallCapture made;
  made.live = readBytes(file.path);
  for (int i = 12; i < 60; ++i) putOneOfEach(queue, i);
  queue.stop();
  made.closed = readBytes(file.path);
  return made;
}

}  // namespace xsigma::profiler::test
