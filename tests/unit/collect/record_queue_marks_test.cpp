// RecordQueue: everything that is no operation, read back; and what stop means.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "../recorded.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

class RecordQueueMarks : public testing::Test {
 protected:
  // The only record of the queue.
  recorded::Seen only() {
    const std::vector<recorded::Seen> records = recorded::all(queue_.stop());
    EXPECT_EQ(records.size(), 1u);
    return records.empty() ? recorded::Seen({}) : records[0];
  }
  void callEverything() {
    queue_.end_op(queue_.begin_op("op"));
    queue_.instant("instant");
    queue_.counter("counter", 1);
    queue_.metadata("key", "value");
    queue_.memory(nullptr, 1, 2, 3, {});
    queue_.outOfMemory(1, 2, 3, {});
    queue_.given({});
    queue_.pushExternalId(1);
    queue_.popExternalId();
  }

  RecordQueue queue_ = RecordQueue::create().value();
};

TEST_F(RecordQueueMarks, AnInstantHasANameAndATime) {
  queue_.instant("now");
  const recorded::Seen record = only();
  EXPECT_EQ(record.kind, RecordKind::instant);
  EXPECT_EQ(record.name, "now");
  EXPECT_NE(record.ticks, 0u);
}

TEST_F(RecordQueueMarks, ACounterHasAValue) {
  queue_.counter("queue length", -17.25);
  const recorded::Seen record = only();
  EXPECT_EQ(record.kind, RecordKind::counter);
  EXPECT_EQ(record.name, "queue length");
  EXPECT_EQ(record.value, -17.25);
}

TEST_F(RecordQueueMarks, MetadataIsAKeyAndAText) {
  const std::string value = std::string("line\nwith nul\0 inside", 21);
  queue_.metadata("note", value);
  const recorded::Seen record = only();
  EXPECT_EQ(record.kind, RecordKind::metadata);
  EXPECT_EQ(record.name, "note");
  EXPECT_EQ(record.text, value);
}

TEST_F(RecordQueueMarks, MetadataMayBeOfAnyLengthThatFitsARecord) {
  for (size_t bytes = 0; bytes < 20; ++bytes) queue_.metadata("length", std::string(bytes, 'x'));
  queue_.metadata("length", std::string(100000, 'y'));
  const std::vector<recorded::Seen> records = recorded::all(queue_.stop());
  ASSERT_EQ(records.size(), 21u);
  for (size_t bytes = 0; bytes < 20; ++bytes) EXPECT_EQ(records[bytes].text, std::string(bytes, 'x'));
  EXPECT_GT(records[20].text.size(), 1000u);
  EXPECT_EQ(records[20].text, std::string(records[20].text.size(), 'y'));
}

TEST_F(RecordQueueMarks, AMemoryEventHasAddressSizeTotalsAndDevice) {
  int object = 0;
  queue_.memory(&object, -4096, size_t{5} << 33, size_t{6} << 33, {DeviceType::CUDA, 7});
  const recorded::Seen record = only();
  EXPECT_EQ(record.kind, RecordKind::memory);
  EXPECT_EQ(record.address, reinterpret_cast<uint64_t>(&object));
  EXPECT_EQ(record.bytes, -4096);
  EXPECT_EQ(record.total_allocated, uint64_t{5} << 33);
  EXPECT_EQ(record.total_reserved, uint64_t{6} << 33);
  EXPECT_EQ(record.device, (Device{DeviceType::CUDA, 7}));
}

TEST_F(RecordQueueMarks, AFailedAllocationHasSizeTotalsAndDevice) {
  queue_.outOfMemory(int64_t{1} << 40, 10, 20, {DeviceType::CPU, -1});
  const recorded::Seen record = only();
  EXPECT_EQ(record.kind, RecordKind::out_of_memory);
  EXPECT_EQ(record.bytes, int64_t{1} << 40);
  EXPECT_EQ(record.total_allocated, 10u);
  EXPECT_EQ(record.total_reserved, 20u);
  EXPECT_EQ(record.device, (Device{DeviceType::CPU, -1}));
}

TEST_F(RecordQueueMarks, AGivenEventComesBackFieldByField) {
  queue_.given({.start_ns = 1700000000000000001,
                .duration_ns = 5000000000,
                .process_id = 4000000000,
                .thread_id = -7,
                .activity_type = 23,
                .correlation_id = 0xFFFFFFFFFFFFFFFE,
                .linked_correlation_id = 77,
                .flow_id = 0xFFFFFFF0,
                .flow_type = 2,
                .flow_start = true,
                .name = "void kernel<float>(float*)",
                .metadata_json = "\"grid\": [1, 2, 3]"});
  const recorded::Seen record = only();
  EXPECT_EQ(record.kind, RecordKind::given_event);
  EXPECT_EQ(record.given.start_ns, 1700000000000000001);
  EXPECT_EQ(record.given.duration_ns, 5000000000);
  EXPECT_EQ(record.given.process_id, 4000000000);
  EXPECT_EQ(record.given.thread_id, -7);
  EXPECT_EQ(record.given.activity_type, 23);
  EXPECT_EQ(record.given.correlation_id, 0xFFFFFFFFFFFFFFFE);
  EXPECT_EQ(record.given.linked_correlation_id, 77u);
  EXPECT_EQ(record.given.flow_id, 0xFFFFFFF0);
  EXPECT_EQ(record.given.flow_type, 2);
  EXPECT_TRUE(record.given.flow_start);
  EXPECT_EQ(record.given_name, "void kernel<float>(float*)");
  EXPECT_EQ(record.given_json, "\"grid\": [1, 2, 3]");
}

TEST_F(RecordQueueMarks, ExternalIdsArePushedAndPoppedByDomain) {
  queue_.pushExternalId(0xFFFFFFFFFFFFFFFF, 3);
  queue_.pushExternalId(9);
  queue_.popExternalId();
  queue_.popExternalId(3);
  const std::vector<recorded::Seen> records = recorded::all(queue_.stop());
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].kind, RecordKind::external_id_push);
  EXPECT_EQ(records[0].id, 0xFFFFFFFFFFFFFFFF);
  EXPECT_EQ(records[0].domain, 3);
  EXPECT_EQ(records[1].id, 9u);
  EXPECT_EQ(records[1].domain, 0);
  EXPECT_EQ(records[2].kind, RecordKind::external_id_pop);
  EXPECT_EQ(records[2].domain, 0);
  EXPECT_EQ(records[3].domain, 3);
}

TEST_F(RecordQueueMarks, MarksAreNoScopes) {
  queue_.instant("instant");
  queue_.counter("counter", 1);
  EXPECT_EQ(queue_.stop().ledger().attempted, 0u);
}

TEST_F(RecordQueueMarks, StoppedTwiceGivesTheSameCapture) {
  callEverything();
  const Capture first = queue_.stop();
  const Capture second = queue_.stop();
  EXPECT_EQ(recorded::all(first).size(), 10u);
  EXPECT_EQ(recorded::all(second).size(), 10u);
  EXPECT_EQ(&first.info(), &second.info());
}

TEST_F(RecordQueueMarks, NothingIsRecordedAfterStop) {
  callEverything();
  const OpToken open = queue_.begin_op("open");
  const Capture capture = queue_.stop();
  const size_t before = recorded::all(capture).size();
  callEverything();
  queue_.end_op(open);
  EXPECT_EQ(queue_.begin_op("late").ticks, 0u);
  std::thread([this] { callEverything(); }).join();
  EXPECT_EQ(recorded::all(queue_.stop()).size(), before);
  EXPECT_EQ(capture.ledger().unfinished, 1u);
  EXPECT_EQ(capture.threads().size(), 1u);
}

TEST_F(RecordQueueMarks, AStoppedQueueDoesNotReachIntoTheNext) {
  queue_.instant("old");
  queue_.stop();
  RecordQueue next = RecordQueue::create().value();
  callEverything();
  next.instant("new");
  const std::vector<recorded::Seen> records = recorded::all(next.stop());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].name, "new");
}

TEST_F(RecordQueueMarks, MayBeStoppedWhileThreadsGoOnRecording) {
  std::atomic<bool> done{false};
  std::atomic<int> rounds{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        callEverything();
        ++rounds;
      }
    });
  }
  while (rounds < 1000) std::this_thread::yield();
  const Capture capture = queue_.stop();
  const Ledger ledger = capture.ledger();
  const int at_stop = rounds;
  while (rounds < at_stop + 100) std::this_thread::yield();
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(ledger.recorded, 998u);
  EXPECT_EQ(ledger.attempted, ledger.recorded + ledger.dropped);
  EXPECT_LE(ledger.unfinished, 2u);
  EXPECT_EQ(capture.ledger().recorded, ledger.recorded);
}

}  // namespace
}  // namespace xsigma::profiler
