// The times of records, against the system's own clock.
#include <gtest/gtest.h>
#include <time.h>

#include <cstdlib>
#include <vector>

#include "base/clock.h"
#include "base/ticks.h"
#include "capture_reading.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

int64_t nowNs() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

void sleepNs(int64_t ns) {
  const timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
  nanosleep(&time, nullptr);
}

class ClockOfRecords : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { setenv("XSIGMA_PROFILER_CLOCK", GetParam(), 1); }
  void TearDown() override { unsetenv("XSIGMA_PROFILER_CLOCK"); }
};

TEST_P(ClockOfRecords, PlacesScopesBetweenTheClockReadsAroundThem) {
  constexpr int64_t kToleranceNs = 50'000;
  const int64_t before_start = nowNs();
  Recording recording = record();
  std::vector<std::pair<int64_t, int64_t>> around;
  for (int i = 0; i < 30; ++i) {
    const int64_t before = nowNs();
    {
      XSIGMA_PROFILE_SCOPE("clock.step");
      sleepNs(1'000'000);
    }
    around.emplace_back(before, nowNs());
    sleepNs(10'000'000);
  }
  const Capture capture = recording.stop();
  const int64_t after_stop = nowNs();

  const bool clock = std::string(GetParam()) == "monotonic" || (std::string(GetParam()) == "auto" && !base::counterIsInvariant());
  EXPECT_EQ(capture.info().counter_is_clock, clock);
  EXPECT_GE(capture.info().start_monotonic_ns, before_start);
  EXPECT_LE(capture.info().stop_monotonic_ns, after_stop);
  size_t seen = 0;
  capture.forEachRecord([&](const CaptureRecord& record) {
    if (record.kind != RecordKind::scope_end) return;
    ASSERT_LT(seen, around.size());
    EXPECT_GE(capture.toMonotonicNs(record.begin_ticks), around[seen].first - kToleranceNs) << seen;
    EXPECT_LE(capture.toMonotonicNs(record.ticks), around[seen].second + kToleranceNs) << seen;
    EXPECT_GE(capture.toMonotonicNs(record.ticks) - capture.toMonotonicNs(record.begin_ticks), 1'000'000 - kToleranceNs);
    ++seen;
  });
  EXPECT_EQ(seen, around.size());
}

INSTANTIATE_TEST_SUITE_P(Of, ClockOfRecords, ::testing::Values("auto", "counter", "monotonic"),
                         [](const auto& each) { return std::string(each.param); });

TEST(ClockOfRecordings, SaysTheWallClockAtStart) {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  const int64_t before = time.tv_sec * 1'000'000'000 + time.tv_nsec;
  const CaptureInfo info = record().stop().info();
  EXPECT_NEAR(static_cast<double>(info.start_unix_ns - before), 0, 1e9);
  EXPECT_GE(info.start_unix_ns, before - 1'000'000);
  EXPECT_GT(info.stop_monotonic_ns, info.start_monotonic_ns);
}

TEST(LongScopes, KeepTheirDurationWhereItDoesNotFitThirtyTwoBits) {
  const double ticks_per_ns = base::ticksPerMillisecond(false) / 1e6;
  const double wrap_ns = 4294967296.0 / ticks_per_ns;
  if (wrap_ns > 4e9) GTEST_SKIP() << "the counter of this machine takes " << wrap_ns / 1e9 << " s for 2^32 ticks";
  const TemporaryFile file("long.xst");
  Recording recording = record({.path = file.path});
  const int64_t before = nowNs();
  {
    XSIGMA_PROFILE_SCOPE("clock.outer");
    {
      XSIGMA_PROFILE_SCOPE("clock.long");
      sleepNs(static_cast<int64_t>(wrap_ns * 1.05));
    }
    XSIGMA_PROFILE_SCOPE("clock.short");
  }
  const int64_t took = nowNs() - before;
  recording.stop();
  const Expected<Capture> capture = openCapture(file.path);
  ASSERT_TRUE(capture.ok()) << capture.message();
  EXPECT_TRUE(capture->ledger().whole());
  EXPECT_EQ(capture->ledger().unfinished, 0u);
  std::map<std::string, int64_t> durations;
  std::map<std::string, uint64_t> begins;
  capture->forEachRecord([&](const CaptureRecord& record) {
    if (record.kind == RecordKind::scope_begin) begins[std::string(record.name)] = record.ticks;
    if (record.kind != RecordKind::scope_end) return;
    durations[std::string(record.name)] = capture->toMonotonicNs(record.ticks) - capture->toMonotonicNs(record.begin_ticks);
    EXPECT_EQ(begins[std::string(record.name)], record.begin_ticks) << record.name;
  });
  ASSERT_EQ(durations.size(), 3u);
  EXPECT_NEAR(static_cast<double>(durations["clock.long"]), static_cast<double>(took), 1e6);
  EXPECT_NEAR(static_cast<double>(durations["clock.outer"]), static_cast<double>(took), 1e6);
  EXPECT_LT(durations["clock.short"], 1'000'000);
  EXPECT_GE(durations["clock.outer"], durations["clock.long"]);
}

TEST(OrderedEnd, IsSaidInTheCaptureAndKeepsScopesNested) {
  Recording ordered = record({.ordered_end = true});
  for (int i = 0; i < 1000; ++i) {
    XSIGMA_PROFILE_SCOPE("clock.outer");
    XSIGMA_PROFILE_SCOPE("clock.inner");
  }
  const Capture capture = ordered.stop();
  EXPECT_TRUE(capture.info().ordered_end);
  EXPECT_FALSE(record().stop().info().ordered_end);
  EXPECT_EQ(capture.ledger().recorded, 2000u);
  uint64_t inner_end = 0;
  capture.forEachRecord([&](const CaptureRecord& record) {
    if (record.kind != RecordKind::scope_end) return;
    if (record.name == "clock.inner") {
      inner_end = record.ticks;
    } else {
      EXPECT_GE(record.ticks, inner_end);
    }
  });
}

}  // namespace
}  // namespace xsigma::profiler::test
