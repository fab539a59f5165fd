// What each policy keeps when there is more than fits, and that the ledger accounts for the rest.
#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

#include "capture_reading.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

void runScopes(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    XSIGMA_PROFILE_SCOPE("policy.step");
  }
}

void runNumberedScopes(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    XSIGMA_PROFILE_SCOPE("policy.numbered");
    recordCounter("policy.number", static_cast<double>(i));
  }
}

TEST(Policies, ARingThatFourThreadsOverrunAccountsForEveryScope) {
  constexpr size_t kScopes = kSanitized ? 100'000 : 1'000'000;
  Recording recording = record({.policy = CapturePolicy::ring, .byte_cap = 64 * 1024});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      setThreadName("ring-" + std::to_string(i));
      runScopes(kScopes);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Capture capture = recording.stop();

  EXPECT_TRUE(capture.damages().empty());
  EXPECT_LE(capture.info().bytes_used, 64u * 1024);
  const Ledger ledger = capture.ledger();
  expectLedgerAddsUp(ledger);
  ASSERT_EQ(ledger.threads.size(), 4u);
  uint64_t kept = 0;
  for (const ThreadLedger& thread : ledger.threads) {
    EXPECT_EQ(thread.attempted, kScopes) << thread.name;
    EXPECT_EQ(thread.recorded + thread.dropped, kScopes) << thread.name;
    EXPECT_EQ(lost(thread, LossCause::overwritten) + lost(thread, LossCause::no_chunk), thread.dropped) << thread.name;
    kept += thread.recorded;
  }
  EXPECT_GT(kept, 500u);
  EXPECT_EQ(ledger.attempted, 4 * kScopes);
}

TEST(Policies, ARingKeepsTheLatest) {
  constexpr size_t kScopes = 50'000;
  Recording recording = record({.policy = CapturePolicy::ring, .byte_cap = 64 * 1024});
  runNumberedScopes(kScopes);
  const Capture capture = recording.stop();
  const auto values = counterValues(capture, "policy.number");
  ASSERT_EQ(values.size(), 1u);
  const std::vector<double>& kept = values.begin()->second;
  ASSERT_GT(kept.size(), 500u);
  ASSERT_LT(kept.size(), kScopes);
  for (size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(kept[i], static_cast<double>(kScopes - kept.size() + i));
  const Ledger ledger = capture.ledger();
  EXPECT_EQ(ledger.attempted, kScopes);
  EXPECT_EQ(lost(ledger, LossCause::overwritten), ledger.dropped);
}

TEST(Policies, ARingTooSmallForItsThreadsSaysNoChunk) {
  constexpr int kThreads = 8;
  Recording recording = record({.policy = CapturePolicy::ring, .byte_cap = kMinimumByteCap});
  std::latch all_have_recorded(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      runScopes(10);
      all_have_recorded.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Ledger ledger = recording.stop().ledger();
  expectLedgerAddsUp(ledger);
  EXPECT_EQ(ledger.attempted, kThreads * 10u);
  EXPECT_GT(ledger.recorded, 0u);
  EXPECT_GT(lost(ledger, LossCause::no_chunk), 0u);
  EXPECT_EQ(lost(ledger, LossCause::no_chunk), ledger.dropped);
}

TEST(Policies, StopWhenFullKeepsTheFirstAndCountsTheRest) {
  constexpr size_t kScopes = 20'000;
  Recording recording = record({.policy = CapturePolicy::stop_when_full, .byte_cap = 64 * 1024});
  runNumberedScopes(kScopes);
  const Capture capture = recording.stop();
  EXPECT_LE(capture.info().bytes_used, 64u * 1024);
  const auto values = counterValues(capture, "policy.number");
  ASSERT_EQ(values.size(), 1u);
  EXPECT_TRUE(countsUpFromZero(values.begin()->second));
  const Ledger ledger = capture.ledger();
  expectLedgerAddsUp(ledger);
  EXPECT_EQ(ledger.attempted, kScopes);
  EXPECT_GT(ledger.recorded, 1000u);
  EXPECT_EQ(lost(ledger, LossCause::cap_reached), ledger.dropped);
  EXPECT_LE(ledger.unfinished, 1u);
  EXPECT_FALSE(ledger.whole());
}

TEST(Policies, MarksThatFindNoRoomAreCountedBesideTheScopes) {
  constexpr size_t kMarks = 10'000;
  Recording recording = record({.byte_cap = kMinimumByteCap});
  for (size_t i = 0; i < kMarks; ++i) recordInstant("policy.mark");
  const Capture capture = recording.stop();
  const Ledger ledger = capture.ledger();
  EXPECT_EQ(ledger.attempted, 0u);
  EXPECT_EQ(countRecords(capture, RecordKind::instant) + ledger.extras_dropped, kMarks);
  EXPECT_GT(ledger.extras_dropped, 0u);
}

TEST(Policies, UnboundedInMemoryKeepsEverythingWhateverTheCapSays) {
  constexpr size_t kScopes = kSanitized ? 50'000 : 300'000;
  Recording recording = record({.policy = CapturePolicy::unbounded, .byte_cap = 1});
  std::thread other([] { runScopes(kScopes); });
  runScopes(kScopes);
  other.join();
  const Capture capture = recording.stop();
  const Ledger ledger = capture.ledger();
  EXPECT_TRUE(ledger.whole());
  EXPECT_EQ(ledger.recorded, 2 * kScopes);
  EXPECT_EQ(countRecords(capture, RecordKind::scope_end, "policy.step"), 2 * kScopes);
}

TEST(Policies, UnboundedInAFileKeepsEverythingAndTheFileSaysTheSame) {
  constexpr size_t kScopes = kSanitized ? 50'000 : 300'000;
  const TemporaryFile file("unbounded.xst");
  Recording recording = record({.policy = CapturePolicy::unbounded, .path = file.path});
  runNumberedScopes(kScopes);
  const Capture capture = recording.stop();
  const Expected<Capture> opened = openCapture(file.path);
  ASSERT_TRUE(opened.ok()) << opened.message();
  for (const Capture& each : {capture, *opened}) {
    EXPECT_TRUE(each.damages().empty());
    EXPECT_TRUE(each.info().closed);
    EXPECT_TRUE(each.ledger().whole());
    EXPECT_EQ(each.ledger().recorded, kScopes);
    const auto values = counterValues(each, "policy.number");
    ASSERT_EQ(values.size(), 1u);
    EXPECT_EQ(values.begin()->second.size(), kScopes);
    EXPECT_TRUE(countsUpFromZero(values.begin()->second));
  }
}

TEST(Policies, APlainScopeTakesNoMoreThanTwentyFourBytes) {
  constexpr size_t kScopes = kSanitized ? 100'000 : 1'000'000;
  Recording recording = record();
  runScopes(kScopes);
  const Capture capture = recording.stop();
  EXPECT_EQ(capture.ledger().recorded, kScopes);
  EXPECT_LE(capture.info().bytes_used, kScopes * 24);
}

}  // namespace
}  // namespace xsigma::profiler::test
