// Scopes that are open when a recording stops, and ends that come too late.
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <optional>
#include <thread>

#include "capture_reading.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

TEST(OpenScopes, AreReportedAsUnfinished) {
  std::latch opened(1);
  std::latch stopped(1);
  Recording recording = record();
  std::thread other([&] {
    XSIGMA_PROFILE_SCOPE("open.elsewhere");
    { XSIGMA_PROFILE_SCOPE("open.done"); }
    opened.count_down();
    stopped.wait();
  });
  opened.wait();
  std::optional<Capture> capture;
  {
    XSIGMA_PROFILE_SCOPE("open.here");
    capture = recording.stop();
  }
  stopped.count_down();
  other.join();
  const Ledger ledger = capture->ledger();
  expectLedgerAddsUp(ledger);
  EXPECT_EQ(ledger.recorded, 3u);
  EXPECT_EQ(ledger.unfinished, 2u);
  EXPECT_TRUE(ledger.whole());
  EXPECT_EQ(countRecords(*capture, RecordKind::scope_end), 1u);
  ASSERT_EQ(ledger.threads.size(), 2u);
  for (const ThreadLedger& thread : ledger.threads) EXPECT_EQ(thread.unfinished, 1u);
}

TEST(OpenScopes, EndHarmlesslyInTheNextRecording) {
  auto first = std::make_unique<Recording>(record());
  std::optional<Recording> second;
  {
    XSIGMA_PROFILE_SCOPE("open.across");
    first->stop();
    first.reset();
    second.emplace(record());
    { XSIGMA_PROFILE_SCOPE("open.inside"); }
  }
  const Capture capture = second->stop();
  EXPECT_EQ(capture.ledger().attempted, 1u);
  EXPECT_EQ(countRecords(capture, RecordKind::scope_end, "open.inside"), 1u);
  EXPECT_EQ(countRecords(capture, RecordKind::scope_end, "open.across"), 0u);
}

TEST(OpenScopes, AreWholeInTheRecordingThatSawThemBegin) {
  Recording outer = record();
  std::optional<Capture> early;
  std::optional<Recording> late;
  {
    XSIGMA_PROFILE_SCOPE("open.a");
    Recording inner = record();
    {
      XSIGMA_PROFILE_SCOPE("open.b");
      early = inner.stop();
      late.emplace(record());
    }
  }
  EXPECT_EQ(late->stop().ledger().attempted, 0u);
  EXPECT_EQ(early->ledger().recorded, 1u);
  EXPECT_EQ(early->ledger().unfinished, 1u);
  const Ledger whole = outer.stop().ledger();
  EXPECT_EQ(whole.recorded, 2u);
  EXPECT_EQ(whole.unfinished, 0u);
}

TEST(OpenScopes, OutliveTheirCapture) {
  Recording keeper = record();
  for (int i = 0; i < 100; ++i) {
    XSIGMA_PROFILE_SCOPE("open.outlives");
    const TemporaryFile file("outlived.xst");
    { const Recording brief = record({.path = file.path}); }
    EXPECT_EQ(openCapture(file.path)->ledger().attempted, 0u);
  }
  EXPECT_EQ(keeper.stop().ledger().recorded, 100u);
}

TEST(Stop, TwiceGivesTheSameCapture) {
  Recording recording = record();
  { XSIGMA_PROFILE_SCOPE("open.once"); }
  const Capture first = recording.stop();
  { XSIGMA_PROFILE_SCOPE("open.afterwards"); }
  const Capture second = recording.stop();
  EXPECT_EQ(first.ledger().recorded, 1u);
  EXPECT_EQ(second.ledger().recorded, 1u);
  EXPECT_EQ(second.info().stop_monotonic_ns, first.info().stop_monotonic_ns);
  EXPECT_TRUE(recording.snapshot().info().closed);
}

}  // namespace
}  // namespace xsigma::profiler::test
