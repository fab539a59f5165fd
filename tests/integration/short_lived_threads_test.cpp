// Ten thousand threads come, record a little and go.
#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

#include "capture_reading.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

constexpr size_t kThreads = kSanitized ? 2'000 : 10'000;
constexpr size_t kAlive = 64;
constexpr size_t kBytesPerScope = 20;
constexpr size_t kBytesPerThread = 128;

void runScopes(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    XSIGMA_PROFILE_SCOPE("short.step");
  }
}

// All of a batch are alive, and in the capture, at the same moment.
void runBatch(size_t threads, size_t scopes) {
  std::latch all_are_here(static_cast<ptrdiff_t>(threads));
  std::vector<std::thread> batch;
  for (size_t i = 0; i < threads; ++i) {
    batch.emplace_back([&] {
      runScopes(1);
      all_are_here.arrive_and_wait();
      runScopes(scopes - 1);
    });
  }
  for (std::thread& thread : batch) thread.join();
}

class ShortLivedThreads : public ::testing::TestWithParam<size_t> {};

TEST_P(ShortLivedThreads, LoseNothingAndLeaveLittleBehind) {
  runBatch(1, 1);  // the name is known before either capture
  const uint64_t empty = record({.policy = CapturePolicy::unbounded}).stop().info().bytes_used;
  Recording recording = record({.policy = CapturePolicy::unbounded});
  for (size_t done = 0; done < kThreads; done += kAlive) runBatch(std::min(kAlive, kThreads - done), GetParam());
  const Capture capture = recording.stop();

  const Ledger ledger = capture.ledger();
  EXPECT_TRUE(ledger.whole());
  EXPECT_EQ(ledger.recorded, kThreads * GetParam());
  EXPECT_EQ(ledger.unfinished, 0u);
  ASSERT_EQ(ledger.threads.size(), kThreads);
  for (const ThreadLedger& thread : ledger.threads) ASSERT_EQ(thread.recorded, GetParam());
  if (kSanitized) return;  // fewer threads, the same half-full blocks of the last 64
  EXPECT_LE(capture.info().bytes_used - empty, kThreads * (GetParam() * kBytesPerScope + kBytesPerThread));
}

INSTANTIATE_TEST_SUITE_P(WithScopesEach, ShortLivedThreads, ::testing::Values(1, 10, 100), ::testing::PrintToStringParamName());

}  // namespace
}  // namespace xsigma::profiler::test
