// Counters of kernels and of whole sessions.
#include <gtest/gtest.h>

#include <thread>

#include "counting.h"

namespace {

using namespace counting;
using libkineto::ActivityType;

const std::vector<std::string> kBlocks{"sm__ctas_launched.sum"};

class RangeCounters : public testing::Test {
 protected:
  void SetUp() override { card() = {}; }
  void TearDown() override {
    EXPECT_EQ(card().enabled, 0) << "something was left switched on";
    EXPECT_EQ(card().hosts, 0);
  }
};

TEST_F(RangeCounters, EveryKernelHasItsOwnNumbers) {
  Counting counting({"sm__ctas_launched.sum", "sm__cycles_active.avg"}, true);
  ASSERT_EQ(counting.refused, "");
  counting.launch("_Z5scalePf", 12);
  counting.launch("add", 34);
  ASSERT_TRUE(counting.finish());
  const auto& got = counting.kept->activities;
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].name, "scale(float*)");
  EXPECT_EQ(got[0].values, (std::vector<double>{12, 12}));
  EXPECT_EQ(got[0].form, "\"sm__ctas_launched.sum\": \x02, \"sm__cycles_active.avg\": \x02");
  EXPECT_EQ(got[1].name, "add");
  EXPECT_EQ(got[1].values[0], 34);
  EXPECT_EQ(got[1].put.type, ActivityType::CUDA_PROFILER_RANGE);
  EXPECT_EQ(got[1].put.role, DeviceRole::note);
  EXPECT_EQ(got[1].put.correlation, 102u);
  EXPECT_LE(got[0].put.end, got[1].put.start);
  EXPECT_EQ((counting.kept->rows[{0, kCounterRow}]), "hardware counters");
  EXPECT_EQ(counting.kept->properties.count("xsigmaNotCounted"), 0u);
}

TEST_F(RangeCounters, MoreKernelsThanAnImageHoldsAreAllCounted) {
  Counting counting(kBlocks, true);
  for (int i = 1; i <= 500; ++i) counting.launch("k", i);
  ASSERT_TRUE(counting.finish());
  ASSERT_EQ(counting.kept->activities.size(), 500u);
  for (int i = 1; i <= 500; ++i) EXPECT_EQ(counting.kept->activities[static_cast<size_t>(i - 1)].values[0], i);
  EXPECT_TRUE(counting.kept->losses.empty());
}

TEST_F(RangeCounters, ThreadsThatLaunchAtOnceKeepTheirNames) {
  Counting counting(kBlocks, true);
  counting.launch_takes = 50us;
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([&counting, t] {
      for (int i = 0; i < 200; ++i) counting.launch(("k" + std::to_string(t)).c_str(), t);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(counting.finish());
  ASSERT_EQ(counting.kept->activities.size(), 800u);
  for (const auto& each : counting.kept->activities) EXPECT_EQ(each.name, "k" + std::to_string(static_cast<int>(each.values[0])));
}

TEST_F(RangeCounters, KernelsOfAGraphAreToldApartFromThoseBesideIt) {
  Counting counting(kBlocks, true);
  counting.launch("before", 1);
  counting.launchGraph({5, 6, 7});
  counting.launch("after", 9);
  ASSERT_TRUE(counting.finish());
  std::vector<std::pair<std::string, double>> got;
  for (const auto& each : counting.kept->activities) got.emplace_back(each.name, each.values[0]);
  EXPECT_EQ(got, (std::vector<std::pair<std::string, double>>{
                     {"before", 1}, {"graph, kernel 0", 5}, {"graph, kernel 1", 6}, {"graph, kernel 2", 7}, {"after", 9}}));
}

TEST_F(RangeCounters, ALaunchThatFailedTakesNobodysNumbers) {
  Counting counting(kBlocks, true);
  counting.launch("good", 1);
  counting.launch("failed", 2, primary(), 1);
  counting.launch("also good", 3);
  ASSERT_TRUE(counting.finish());
  ASSERT_EQ(counting.kept->activities.size(), 2u);
  EXPECT_EQ(counting.kept->activities[1].name, "also good");
  EXPECT_EQ(counting.kept->activities[1].values[0], 3);
}

TEST_F(RangeCounters, KernelsThatNobodyToldOfGetNoWrongName) {
  card().internal_kernels = 1;
  Counting counting(kBlocks, true);
  counting.launch("a", 10);
  counting.launch("b", 20);
  ASSERT_TRUE(counting.finish());
  ASSERT_EQ(counting.kept->activities.size(), 4u);
  for (const auto& each : counting.kept->activities) EXPECT_EQ(each.name, "kernel of unknown name");
}

TEST_F(RangeCounters, LaunchesWithoutNumbersAreCountedAsLost) {
  Counting counting(kBlocks, true);
  counting.launch("k", 10);
  card().deaf = true;
  counting.launchGraph({5, 6});
  counting.launch("k", 20);
  ASSERT_TRUE(counting.finish());
  EXPECT_EQ(counting.kept->activities.size(), 1u);
  EXPECT_EQ(counting.kept->losses[DeviceLoss::not_counted], 2u);
  EXPECT_EQ(counting.kept->properties["xsigmaNotCounted"], "{\"graphs\": 1, \"kernels\": 1}");
}

TEST_F(RangeCounters, AContextThatComesUpLaterIsCounted) {
  card().has_context = false;
  Counting counting(kBlocks, true);
  ASSERT_EQ(counting.refused, "");
  counting.launch("k", 3, later());
  ASSERT_TRUE(counting.finish());
  ASSERT_EQ(counting.kept->activities.size(), 1u);
  EXPECT_EQ(counting.kept->activities[0].values[0], 3);
}

TEST_F(RangeCounters, AContextThatGoesLeavesItsNumbers) {
  Counting counting(kBlocks, true);
  counting.launch("k", 3, later());
  EXPECT_EQ(card().enabled, 2);
  counting.destroy(later());
  EXPECT_EQ(card().enabled, 1);
  ASSERT_TRUE(counting.finish());
  ASSERT_EQ(counting.kept->activities.size(), 1u);
  EXPECT_EQ(counting.kept->activities[0].values[0], 3);
}

TEST_F(RangeCounters, ASessionIsOneRangeForEachTimeItIsOn) {
  Counting counting(kBlocks, false);
  counting.launch("k", 3);
  counting.launch("k", 4);
  counting.run->setCollecting(false);
  counting.launch("k", 100);
  counting.run->setCollecting(true);
  counting.launch("k", 5);
  ASSERT_TRUE(counting.finish());
  ASSERT_EQ(counting.kept->activities.size(), 2u);
  EXPECT_EQ(counting.kept->activities[0].name, "session");
  EXPECT_EQ(counting.kept->activities[0].values[0], 7);
  EXPECT_EQ(counting.kept->activities[1].name, "session 2");
  EXPECT_EQ(counting.kept->activities[1].values[0], 5);
}

TEST_F(RangeCounters, KernelsAfterStopAreNotCounted) {
  Counting counting(kBlocks, true);
  counting.launch("k", 3);
  counting.run->stop();
  counting.launch("late", 100);
  ASSERT_TRUE(counting.finish());
  ASSERT_EQ(counting.kept->activities.size(), 1u);
  EXPECT_EQ(counting.kept->activities[0].values[0], 3);
}

TEST_F(RangeCounters, ADeviceThatHangsDoesNotHoldTheSession) {
  Counting counting(kBlocks, false);
  counting.launch("k", 3);
  card().hang = true;
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_FALSE(counting.finish(100ms));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 500ms);
  EXPECT_EQ(counting.kept->losses[DeviceLoss::not_counted], 1u);
  EXPECT_TRUE(counting.kept->activities.empty());
  for (int i = 0; i < 50 && (card().enabled != 0 || card().hosts != 0); ++i) std::this_thread::sleep_for(100ms);
}

}  // namespace
