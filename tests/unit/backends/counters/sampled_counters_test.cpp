// Counters as samples.
#include <gtest/gtest.h>

#include <thread>

#include "counting.h"

namespace {

using namespace counting;

const std::vector<std::string> kCycles{"sm__cycles_active.avg"};

class SampledCounters : public testing::Test {
 protected:
  void SetUp() override { card() = {}; }
  void TearDown() override {
    EXPECT_EQ(card().enabled, 0) << "something was left switched on";
    EXPECT_EQ(card().hosts, 0);
  }
};

TEST_F(SampledCounters, AreOneAfterAnotherInTheirOwnClock) {
  Counting counting({"sm__cycles_active.avg", "sm__ctas_launched.sum"}, false, 1ms);
  ASSERT_EQ(counting.refused, "");
  EXPECT_EQ(card().interval, 1'000'000u);
  std::this_thread::sleep_for(200ms);
  ASSERT_TRUE(counting.finish());
  std::vector<Kept::Activity> cycles;
  for (const auto& each : counting.kept->activities) {
    EXPECT_EQ(each.put.role, DeviceRole::counter);
    EXPECT_EQ(each.put.type, libkineto::ActivityType::HARDWARE_COUNTERS);
    EXPECT_EQ(each.put.clock, 5);
    if (each.name == kCycles[0]) cycles.push_back(each);
  }
  EXPECT_EQ(counting.kept->activities.size(), 2 * cycles.size());
  ASSERT_GE(cycles.size(), 150u);
  for (size_t i = 1; i < cycles.size(); ++i) EXPECT_EQ(cycles[i].put.start, cycles[i - 1].put.end);
  EXPECT_TRUE(counting.kept->losses.empty());

  const auto& pairs = counting.kept->pairs[5];
  ASSERT_GE(pairs.size(), 2u);
  for (size_t i = 1; i < pairs.size(); ++i) EXPECT_GT(pairs[i].first, pairs[i - 1].first);
  EXPECT_LE(pairs.front().first, cycles.front().put.start);
}

TEST_F(SampledCounters, OfAllDevicesIfNoneIsInUseYet) {
  card().has_context = false;
  card().devices = 3;
  Counting counting(kCycles, false, 1ms);
  std::this_thread::sleep_for(120ms);
  ASSERT_TRUE(counting.finish());
  std::map<int64_t, int> by_device;
  for (const auto& each : counting.kept->activities) ++by_device[each.put.process_id];
  EXPECT_EQ(by_device.size(), 3u);
}

void sampleWithoutForty() {
  std::this_thread::sleep_for(100ms);
  card().skip_samples = 40;
  std::this_thread::sleep_for(200ms);
}

TEST_F(SampledCounters, WhatTheDeviceOverwroteIsCountedAsLost) {
  Counting counting(kCycles, false, 1ms);
  sampleWithoutForty();
  ASSERT_TRUE(counting.finish());
  EXPECT_EQ(counting.kept->losses[DeviceLoss::not_counted], 40u);
}

TEST_F(SampledCounters, WhatTheDeviceKeptToItselfInTheEndIsCountedAsLost) {
  Counting counting(kCycles, false, 1ms);
  std::this_thread::sleep_for(100ms);
  card().skip_samples = 1'000'000;
  const auto begun = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(100ms);
  const auto missing = (std::chrono::steady_clock::now() - begun) / 1ms;
  ASSERT_TRUE(counting.finish());
  const auto lost = static_cast<int64_t>(counting.kept->losses[DeviceLoss::not_counted]);
  EXPECT_GE(lost, missing - 4);
  EXPECT_LE(lost, missing + 80) << "with those that were not fetched yet: every 64 ms";
}

// As on an H200: after many that nobody fetched in time comes one that claims their time, with its own values.
TEST_F(SampledCounters, WhatOneReachesBackOverIsCountedAsLost) {
  card().reach_back = true;
  Counting counting(kCycles, false, 1ms);
  sampleWithoutForty();
  ASSERT_TRUE(counting.finish());
  EXPECT_EQ(counting.kept->losses[DeviceLoss::not_counted], 40u);
  for (const auto& each : counting.kept->activities) EXPECT_NEAR(static_cast<double>(each.put.end - each.put.start), 1e6, 1e4);
}

TEST_F(SampledCounters, AreCountedInWhateverTicksTheClockHas) {
  card().ticks_per_ns = 3;
  Counting counting(kCycles, false, 1ms);
  sampleWithoutForty();
  card().skip_samples = 1'000'000;
  const auto begun = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(100ms);
  const auto missing = 40 + (std::chrono::steady_clock::now() - begun) / 1ms;
  ASSERT_TRUE(counting.finish());
  const auto lost = static_cast<int64_t>(counting.kept->losses[DeviceLoss::not_counted]);
  EXPECT_GE(lost, missing - 4);
  EXPECT_LE(lost, missing + 80) << "with those that were not fetched yet: every 64 ms";
}

TEST_F(SampledCounters, GoOnAfterTheDevicesBufferWasFull) {
  Counting counting(kCycles, false, 1ms);
  std::this_thread::sleep_for(100ms);
  card().overflow_once = true;
  std::this_thread::sleep_for(100ms);
  const uint64_t later = [] {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  }();
  std::this_thread::sleep_for(150ms);
  ASSERT_TRUE(counting.finish());
  EXPECT_GE(counting.kept->losses[DeviceLoss::not_counted], 1u);
  EXPECT_GT(counting.kept->activities.back().put.start, later);
}

TEST_F(SampledCounters, OfNoClockWeKnowAreLeftOutAndCounted) {
  card().foreign_clock = true;
  Counting counting(kCycles, false, 1ms);
  std::this_thread::sleep_for(100ms);
  ASSERT_TRUE(counting.finish());
  EXPECT_TRUE(counting.kept->activities.empty());
  EXPECT_GT(counting.kept->losses[DeviceLoss::not_counted], 10u);
}

TEST_F(SampledCounters, PauseWhileCollectionIsOff) {
  Counting counting(kCycles, false, 1ms);
  std::this_thread::sleep_for(50ms);
  counting.run->setCollecting(false);
  std::this_thread::sleep_for(200ms);
  counting.run->setCollecting(true);
  std::this_thread::sleep_for(50ms);
  ASSERT_TRUE(counting.finish());
  EXPECT_GT(counting.kept->activities.size(), 50u);
  EXPECT_LT(counting.kept->activities.size(), 150u);
  EXPECT_TRUE(counting.kept->losses.empty()) << "a pause is no loss";
}

TEST_F(SampledCounters, ADeviceThatHangsDoesNotHoldTheSession) {
  Counting counting(kCycles, false, 1ms);
  std::this_thread::sleep_for(80ms);
  card().hang = true;
  std::this_thread::sleep_for(80ms);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_FALSE(counting.finish(100ms));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 500ms);
  const size_t put = counting.kept->activities.size();
  for (int i = 0; i < 50 && (card().enabled != 0 || card().hosts != 0); ++i) std::this_thread::sleep_for(100ms);
  EXPECT_EQ(counting.kept->activities.size(), put) << "put after drain";
}

}  // namespace
