// A program that is killed while four of its threads record to a file: all but the record being written is in the file.
#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "capture_reading.h"
#include "child_process.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

constexpr int kThreads = 4;
constexpr int kRuns = kSanitized ? 10 : 100;
constexpr int kAtOnce = 2;
constexpr int kShortestMs = 10;
constexpr int kLongestMs = 500;
constexpr uint64_t kRecordsPerRound = 3;  // begin, counter, end

struct Progress {
  std::atomic<bool> started{false};
  struct alignas(64) Thread {
    std::atomic<uint64_t> records{0};  // published after each record
  } threads[kThreads];
};

[[noreturn]] void writeForever(int index, std::atomic<uint64_t>& records) {
  setThreadName("writer-" + std::to_string(index));
  constexpr uint64_t kRoundsBetweenPauses = 32;  // as fast as it goes in bursts; the files stay small
  for (uint64_t round = 0;; ++round) {
    {
      XSIGMA_PROFILE_SCOPE("killed.step");
      records.store(round * kRecordsPerRound + 1, std::memory_order_release);
      recordCounter("killed.number", static_cast<double>(round));
      records.store(round * kRecordsPerRound + 2, std::memory_order_release);
    }
    records.store(round * kRecordsPerRound + 3, std::memory_order_release);
    if (round % kRoundsBetweenPauses == 0) usleep(200);
  }
}

pid_t startWriter(const std::string& path, Progress& progress) {
  return forkChild([&] {
    const Recording recording = record({.policy = CapturePolicy::unbounded, .path = path});
    progress.started.store(true);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([&progress, i] { writeForever(i, progress.threads[i].records); });
    threads.front().join();
    return 0;
  });
}

// The records of a thread in the one order in which they were made; how many there are.
struct Sequence {
  uint64_t records = 0;
  bool in_order = true;

  void take(const CaptureRecord& record) {
    constexpr RecordKind kOrder[] = {RecordKind::scope_begin, RecordKind::counter, RecordKind::scope_end};
    in_order = in_order && record.kind == kOrder[records % kRecordsPerRound] &&
               record.name == (record.kind == RecordKind::counter ? "killed.number" : "killed.step") &&
               (record.kind != RecordKind::counter || record.value == static_cast<double>(records / kRecordsPerRound));
    ++records;
  }
};

void expectAPrefix(const std::string& path, const Progress& progress) {
  const Expected<Capture> capture = openCapture(path);
  ASSERT_TRUE(capture.ok()) << capture.message();
  EXPECT_TRUE(capture->damages().empty()) << capture->damages().front().what;
  EXPECT_FALSE(capture->info().closed);
  const Ledger ledger = capture->ledger();
  expectLedgerAddsUp(ledger);
  EXPECT_TRUE(ledger.whole());
  std::map<std::string, Sequence> sequences;
  capture->forEachRecord([&](const CaptureRecord& record) { sequences[capture->threads().at(record.thread).name].take(record); });
  for (int i = 0; i < kThreads; ++i) {
    const Sequence& sequence = sequences["writer-" + std::to_string(i)];
    const uint64_t published = progress.threads[i].records.load(std::memory_order_acquire);
    EXPECT_TRUE(sequence.in_order) << "thread " << i;
    EXPECT_GE(sequence.records, published) << "thread " << i;
    EXPECT_LE(sequence.records, published + 1) << "thread " << i;
  }
  EXPECT_EQ(sequences.size(), static_cast<size_t>(kThreads));
}

void sleepMs(int ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000L};
  nanosleep(&time, nullptr);
}

TEST(KilledWriter, LeavesAGapFreePrefixOfEveryThread) {
  for (int run = 0; run < kRuns; run += kAtOnce) {
    const Shared<Progress> progress[kAtOnce];
    const TemporaryFile files[kAtOnce] = {TemporaryFile("killed_0.xst"), TemporaryFile("killed_1.xst")};
    pid_t children[kAtOnce];
    for (int i = 0; i < kAtOnce; ++i) children[i] = startWriter(files[i].path, *progress[i]);
    for (int i = 0; i < kAtOnce; ++i) {
      for (int waited = 0; !progress[i]->started.load() && waited < 20'000; ++waited) sleepMs(1);
    }
    int slept = 0;
    for (int i = 0; i < kAtOnce; ++i) {
      const int after = kShortestMs + (kLongestMs - kShortestMs) * (run + i) / (kRuns - 1);
      sleepMs(after - slept);
      slept = after;
      kill(children[i], SIGKILL);
    }
    for (int i = 0; i < kAtOnce; ++i) {
      ASSERT_EQ(waitFor(children[i]), 128 + SIGKILL) << "run " << run + i;
      SCOPED_TRACE(::testing::Message() << "run " << run + i);
      expectAPrefix(files[i].path, *progress[i]);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace xsigma::profiler::test
