// A capture that is read while its threads go on writing.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "capture_reading.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

constexpr int kReads = kSanitized ? 6 : 100;

// Threads that record numbered scopes, now and then under a new name, until destroyed.
class Writers {
 public:
  explicit Writers(int count) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this, i] { run(i); });
    while (started_.load() < count) std::this_thread::yield();
  }
  ~Writers() {
    done_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;

 private:
  void run(int index) {
    for (uint64_t i = 0; !done_.load(std::memory_order_relaxed); ++i) {
      XSIGMA_PROFILE_SCOPE("live.step");
      recordCounter("live.number", static_cast<double>(i));
      if (i % 256 == 0) {
        const std::string name = "live.new." + std::to_string(index) + "." + std::to_string(i / 256 % 200);
        XSIGMA_PROFILE_SCOPE_DYNAMIC(name);
        usleep(200);
      }
      if (i == 0) ++started_;
    }
  }

  std::atomic<bool> done_{false};
  std::atomic<int> started_{0};
  std::vector<std::thread> threads_;
};

// Every scope of a thread lies inside or after the one before; every name is known.
void expectConsistent(const Capture& capture, size_t threads) {
  ASSERT_TRUE(capture.damages().empty()) << capture.damages().front().what << " at " << capture.damages().front().offset;
  ASSERT_EQ(capture.threads().size(), threads);
  std::map<uint32_t, uint64_t> last_ticks;
  capture.forEachRecord([&](const CaptureRecord& record) {
    ASSERT_LT(record.thread, threads);
    ASSERT_EQ(record.name.substr(0, 5), "live.") << record.name;
    ASSERT_GE(record.ticks, last_ticks[record.thread]);
    last_ticks[record.thread] = record.ticks;
    if (record.kind == RecordKind::scope_end) {
      ASSERT_LE(record.begin_ticks, record.ticks);
    }
  });
  expectLedgerAddsUp(capture.ledger());
}

void expectPrefix(const Capture& capture, size_t threads) {
  expectConsistent(capture, threads);
  const auto values = counterValues(capture, "live.number");
  EXPECT_EQ(values.size(), threads);
  for (const auto& [thread, numbers] : values) EXPECT_TRUE(countsUpFromZero(numbers)) << "thread " << thread;
  EXPECT_EQ(capture.ledger().dropped, 0u);
}

// What there is to read grows while it is read: a few looks at each of many short recordings.
constexpr int kLooks = 3;

TEST(LiveReading, AFileBeingRecordedGivesAGapFreePrefix) {
  for (int i = 0; i < kReads / 2; ++i) {
    const TemporaryFile file("live.xst");
    Recording recording = record({.policy = CapturePolicy::unbounded, .path = file.path});
    const Writers writers(2);
    uint64_t last = 0;
    for (int look = 0; look < kLooks; ++look) {
      const Expected<Capture> capture = openCapture(file.path);
      ASSERT_TRUE(capture.ok()) << capture.message();
      EXPECT_FALSE(capture->info().closed);
      expectPrefix(*capture, 2);
      const uint64_t now = capture->ledger().recorded;
      EXPECT_GE(now, last);
      last = now;
      if (HasFailure()) return;
    }
    EXPECT_GT(last, 0u);
  }
}

TEST(LiveReading, ASnapshotGivesAGapFreePrefixAndStaysAsItIs) {
  for (int i = 0; i < kReads / 2; ++i) {
    Recording recording = record({.policy = CapturePolicy::unbounded});
    const Writers writers(2);
    for (int look = 0; look < kLooks; ++look) {
      const Capture snapshot = recording.snapshot();
      expectPrefix(snapshot, 2);
      const uint64_t before = snapshot.ledger().recorded;
      usleep(200);
      EXPECT_EQ(snapshot.ledger().recorded, before);
      if (HasFailure()) return;
    }
  }
}

// Between the first look at a live ring and the pass over its records some blocks are overwritten: what is left is whole.
TEST(LiveReading, ARingFileGoingRoundIsNeverDamaged) {
  for (const size_t cap : {size_t{256} << 10, size_t{1} << 20}) {
    const TemporaryFile file("round.xst");
    Recording recording = record({.policy = CapturePolicy::ring, .byte_cap = cap, .path = file.path});
    const Writers writers(2);
    for (int i = 0; i < kReads; ++i) {
      const Expected<Capture> capture = openCapture(file.path);
      ASSERT_TRUE(capture.ok()) << capture.message();
      expectConsistent(*capture, 2);
      if (HasFailure()) return;
    }
  }
}

TEST(LiveReading, ASnapshotOfARingGoingRoundIsNeverDamaged) {
  for (const size_t cap : {size_t{256} << 10, size_t{1} << 20}) {
    Recording recording = record({.policy = CapturePolicy::ring, .byte_cap = cap});
    const Writers writers(2);
    for (int i = 0; i < kReads; ++i) {
      expectConsistent(recording.snapshot(), 2);
      if (HasFailure()) return;
    }
  }
}

TEST(LiveReading, WhileTheFileIsClosedIsNeverDamaged) {
  for (int i = 0; i < kReads / 2; ++i) {
    const TemporaryFile file("closing.xst");
    Recording recording = record({.policy = CapturePolicy::unbounded, .path = file.path});
    const Writers writers(1);
    usleep(500);
    std::thread stopper([&] { recording.stop(); });
    const Expected<Capture> capture = openCapture(file.path);
    ASSERT_TRUE(capture.ok()) << capture.message();
    expectConsistent(*capture, 1);
    stopper.join();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace xsigma::profiler::test
