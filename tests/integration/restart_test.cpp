// Recordings start, stop, are read and are destroyed while threads run scopes all the while.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "capture_reading.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

// Threads that never pause. Each scope holds a counter and an inner scope under a dynamic name.
class BusyThreads {
 public:
  explicit BusyThreads(int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, i] {
        for (uint64_t n = 0; !done_.load(std::memory_order_relaxed); ++n) {
          XSIGMA_PROFILE_SCOPE("restart.outer");
          recordCounter("restart.number", static_cast<double>(n));
          const std::string name = "restart.inner." + std::to_string((n + static_cast<uint64_t>(i)) % 100);
          XSIGMA_PROFILE_SCOPE_DYNAMIC(name);
        }
      });
    }
  }
  ~BusyThreads() {
    done_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  BusyThreads(const BusyThreads&) = delete;
  BusyThreads& operator=(const BusyThreads&) = delete;

 private:
  std::atomic<bool> done_{false};
  std::vector<std::thread> threads_;
};

void expectSound(const Capture& capture) {
  ASSERT_TRUE(capture.damages().empty()) << capture.damages().front().what;
  expectLedgerAddsUp(capture.ledger());
  capture.forEachRecord([](const CaptureRecord& record) { ASSERT_EQ(record.name.substr(0, 8), "restart.") << record.name; });
  for (const auto& [thread, numbers] : counterValues(capture, "restart.number")) {
    for (size_t i = 1; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], numbers[i - 1] + 1) << "thread " << thread;
  }
}

TEST(Restart, AThousandTimesUnderRunningThreads) {
  const BusyThreads threads(3);
  uint64_t recorded = 0;
  for (int i = 0; i < 1000; ++i) {
    Recording recording = record({.byte_cap = 1 << 16});
    if (i % 10 == 0) usleep(200);
    const Capture capture = recording.stop();
    expectSound(capture);
    if (HasFatalFailure()) return;
    recorded += capture.ledger().recorded;
  }
  EXPECT_GT(recorded, 1000u);
}

TEST(Restart, ToAFileUnderRunningThreads) {
  const BusyThreads threads(3);
  const TemporaryFile file("restart.xst");
  for (int i = 0; i < (kSanitized ? 20 : 40); ++i) {
    Recording recording = record({.policy = CapturePolicy::unbounded, .path = file.path});
    usleep(300);
    const Capture capture = recording.stop();
    expectSound(capture);
    const Expected<Capture> opened = openCapture(file.path);
    ASSERT_TRUE(opened.ok()) << opened.message();
    expectSound(*opened);
    EXPECT_TRUE(opened->info().closed);
    EXPECT_EQ(opened->ledger().recorded, capture.ledger().recorded);
    if (HasFatalFailure()) return;
  }
}

TEST(Restart, SeveralAtOnceFromSeveralThreads) {
  const BusyThreads threads(2);
  std::atomic<uint64_t> recorded{0};
  std::vector<std::thread> controllers;
  for (int i = 0; i < 3; ++i) {
    controllers.emplace_back([&, i] {
      for (int n = 0; n < (kSanitized ? 30 : 200); ++n) {
        Recording recording = record({.policy = i == 0 ? CapturePolicy::ring : CapturePolicy::stop_when_full, .byte_cap = 1 << 17});
        usleep(100);
        const Capture capture = recording.stop();
        EXPECT_TRUE(capture.damages().empty());
        expectLedgerAddsUp(capture.ledger());
        recorded += capture.ledger().recorded;
      }
    });
  }
  for (std::thread& controller : controllers) controller.join();
  EXPECT_GT(recorded.load(), 0u);
}

TEST(Restart, CapturesAreReadAndDestroyedWhileTheNextRecordingRuns) {
  const BusyThreads threads(2);
  std::vector<Capture> kept;
  std::vector<uint64_t> counted;
  Recording keeper = record({.policy = CapturePolicy::ring, .byte_cap = 1 << 18});
  for (int i = 0; i < 50; ++i) {
    Recording recording = record({.byte_cap = 1 << 18});
    usleep(500);
    kept.push_back(recording.stop());
    counted.push_back(kept.back().ledger().recorded);
    if (kept.size() > 8) {
      EXPECT_EQ(kept.front().ledger().recorded, counted.front()) << "a finished capture does not change";
      kept.erase(kept.begin());
      counted.erase(counted.begin());
    }
  }
  expectLedgerAddsUp(keeper.stop().ledger());
}

}  // namespace
}  // namespace xsigma::profiler::test
