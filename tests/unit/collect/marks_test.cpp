// marks.h and memory.h: what a program says beside its scopes, read back.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "../recorded.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

class Marks : public testing::Test {
 protected:
  std::vector<recorded::Seen> stop() { return recorded::all(recording_.stop()); }
  Recording recording_ = startRecording().value();
};

TEST_F(Marks, StandWhereTheyWereMade) {
  {
    XSIGMA_PROFILE_SCOPE("scope");
    recordInstant("instant");
  }
  recordCounter("counter", 2.5);
  const std::vector<recorded::Seen> records = stop();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].kind, RecordKind::scope_begin);
  EXPECT_EQ(records[1].kind, RecordKind::instant);
  EXPECT_EQ(records[1].name, "instant");
  EXPECT_LE(records[0].ticks, records[1].ticks);
  EXPECT_LE(records[1].ticks, records[2].ticks);
  EXPECT_EQ(records[3].kind, RecordKind::counter);
  EXPECT_EQ(records[3].name, "counter");
  EXPECT_EQ(records[3].value, 2.5);
}

TEST_F(Marks, MetadataIsAKeyAndAText) {
  recordMetadata("batch", "64");
  recordMetadata("empty", "");
  const std::vector<recorded::Seen> records = stop();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].kind, RecordKind::metadata);
  EXPECT_EQ(records[0].name, "batch");
  EXPECT_EQ(records[0].text, "64");
  EXPECT_EQ(records[1].name, "empty");
  EXPECT_EQ(records[1].text, "");
}

TEST_F(Marks, MayHaveAnEmptyName) {
  recordInstant("");
  recordCounter(std::string_view(), 3);
  recordMetadata("", "value");
  const std::vector<recorded::Seen> records = stop();
  ASSERT_EQ(records.size(), 3u);
  for (const recorded::Seen& record : records) EXPECT_EQ(record.name, "");
}

TEST_F(Marks, AsyncOperationsMayEndOnAnotherThread) {
  recordAsyncBegin("request", 0x123456789ABCDEF0);
  std::thread([] { recordAsyncEnd("request", 0x123456789ABCDEF0); }).join();
  const std::vector<recorded::Seen> records = stop();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].kind, RecordKind::async_begin);
  EXPECT_EQ(records[1].kind, RecordKind::async_end);
  for (const recorded::Seen& record : records) {
    EXPECT_EQ(record.name, "request");
    EXPECT_EQ(record.id, 0x123456789ABCDEF0u);
  }
  EXPECT_NE(records[0].thread, records[1].thread);
  EXPECT_LT(records[0].ticks, records[1].ticks);
}

TEST_F(Marks, MemoryIsReportedWithItsDevice) {
  int object = 0;
  reportMemoryUsage(&object, 1024, 2048, 4096, {DeviceType::CUDA, 1});
  reportMemoryUsage(&object, -1024, 1024, 4096);
  reportOutOfMemory(int64_t{1} << 50, 1024, 4096, {DeviceType::CUDA, 1});
  const std::vector<recorded::Seen> records = stop();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].kind, RecordKind::memory);
  EXPECT_EQ(records[0].address, reinterpret_cast<uint64_t>(&object));
  EXPECT_EQ(records[0].bytes, 1024);
  EXPECT_EQ(records[0].total_allocated, 2048u);
  EXPECT_EQ(records[0].total_reserved, 4096u);
  EXPECT_EQ(records[0].device, (Device{DeviceType::CUDA, 1}));
  EXPECT_EQ(records[1].bytes, -1024);
  EXPECT_EQ(records[1].device, (Device{DeviceType::CPU, -1}));
  EXPECT_EQ(records[2].kind, RecordKind::out_of_memory);
  EXPECT_EQ(records[2].bytes, int64_t{1} << 50);
}

TEST_F(Marks, GoToEveryRecording) {
  Recording second = startRecording().value();
  recordInstant("both");
  EXPECT_EQ(recorded::all(second.stop()).size(), 1u);
  recordInstant("first");
  EXPECT_EQ(stop().size(), 2u);
}

TEST_F(Marks, AreNotMadeAfterStop) {
  recording_.stop();
  recordInstant("late");
  recordCounter("late", 1);
  reportMemoryUsage(nullptr, 1, 1, 1);
  EXPECT_TRUE(stop().empty());
}

std::string nameOf(const Capture& capture, uint64_t logical_id) {
  const std::vector<ThreadInfo>& threads = capture.threads();
  const auto found = std::find_if(threads.begin(), threads.end(), [=](const ThreadInfo& each) { return each.logical_id == logical_id; });
  return found != threads.end() ? found->name : "<no such thread>";
}

TEST_F(Marks, AThreadsNameIsInTheCaptureWheneverItWasGiven) {
  uint64_t early = 0;
  uint64_t late = 0;
  std::thread([&] {
    early = RecordFunction::currentThreadId();
    setThreadName("named before its first scope");
    XSIGMA_PROFILE_SCOPE("scope");
  }).join();
  std::thread([&] {
    late = RecordFunction::currentThreadId();
    XSIGMA_PROFILE_SCOPE("scope");
    setThreadName("first name");
    setThreadName("second name");
  }).join();
  const Capture capture = recording_.stop();
  EXPECT_EQ(nameOf(capture, early), "named before its first scope");
  EXPECT_EQ(nameOf(capture, late), "second name");
  EXPECT_EQ(capture.ledger().threads.at(1).name, "second name");
}

TEST_F(Marks, AThreadsNameStaysForLaterRecordings) {
  std::thread([] {
    setThreadName("worker");
    Recording later = startRecording().value();
    recordInstant("mark");
    const Capture capture = later.stop();
    ASSERT_EQ(capture.threads().size(), 1u);
    EXPECT_EQ(capture.threads()[0].name, "worker");
    EXPECT_EQ(capture.threads()[0].logical_id, RecordFunction::currentThreadId());
  }).join();
}

TEST_F(Marks, ALongThreadNameIsCutAt64Bytes) {
  uint64_t thread = 0;
  std::thread([&] {
    thread = RecordFunction::currentThreadId();
    setThreadName(std::string(200, 'n'));
    recordInstant("mark");
  }).join();
  const std::string name = nameOf(recording_.stop(), thread);
  EXPECT_GE(name.size(), 60u);
  EXPECT_LE(name.size(), 64u);
  EXPECT_EQ(name, std::string(name.size(), 'n'));
}

TEST_F(Marks, AThreadWithoutANameHasTheSystemsOne) {
  uint64_t thread = 0;
  std::thread([&] {
    thread = RecordFunction::currentThreadId();
    pthread_setname_np(pthread_self(), "system name");
    recordInstant("mark");
  }).join();
  EXPECT_EQ(nameOf(recording_.stop(), thread), "system name");
}

}  // namespace
}  // namespace xsigma::profiler
