// Two time lines beside each other, from nothing but when events were asked for and how far they lie apart.
#include <gtest/gtest.h>

#include <cmath>

#include "backends/cuda_events/device_timeline.h"
#include "fake_stubs.h"

namespace xsigma::profiler::backends::cuda_events {
namespace {

using test::FakeStubs;
using test::KeptOutput;

constexpr int64_t kMillisecond = 1'000'000;

// A host whose ticks are nanoseconds; the rate is one from the start.
class DeviceTimelineTest : public testing::Test {
 protected:
  ProfilerVoidEventStub eventAt(int64_t ns) {
    ProfilerVoidEventStub event;
    int device = 0;
    stubs_.now_ns = ns;
    stubs_.record(&device, &event, nullptr);
    return event;
  }
  // Where the pairs say a place on the device's line is, in ticks of the host.
  double hostOf(int64_t at) const {
    const auto& pairs = output_.pairs;
    size_t i = 1;
    while (i + 1 < pairs.size() && static_cast<int64_t>(pairs[i].device_ticks) < at) ++i;
    const auto& a = pairs[i - 1];
    const auto& b = pairs[i];
    return static_cast<double>(a.host_ticks) + static_cast<double>(at - static_cast<int64_t>(a.device_ticks)) *
                                                   static_cast<double>(b.host_ticks - a.host_ticks) /
                                                   static_cast<double>(b.device_ticks - a.device_ticks);
  }

  FakeStubs stubs_;
  KeptOutput output_;
  uint64_t begin_ = test::monotonicTicks();
  HostRate rate_{test::monotonicTicks};
  DeviceTimeline timeline_{1, rate_};
};

TEST_F(DeviceTimelineTest, AnEventIsAsFarFromTheFirstAsTheDeviceSays) {
  ProfilerVoidEventStub first = eventAt(1000);
  ProfilerVoidEventStub earlier = eventAt(400);
  ProfilerVoidEventStub later = eventAt(251'000);
  const int64_t base = timeline_.place(stubs_, first);
  EXPECT_EQ(timeline_.place(stubs_, later) - base, 250'000);
  EXPECT_EQ(timeline_.place(stubs_, earlier) - base, -600);
}

TEST_F(DeviceTimelineTest, DistancesStayExactForHours) {
  ProfilerVoidEventStub first = eventAt(0);
  int64_t last = timeline_.place(stubs_, first);
  const int64_t base = last;
  constexpr int64_t kStep = 500 * kMillisecond + 123;
  int64_t at = 0;
  for (; at < int64_t{3600} * 1000 * kMillisecond; at += kStep) {
    ProfilerVoidEventStub event = eventAt(at + kStep);
    const int64_t placed = timeline_.place(stubs_, event);
    ASSERT_NEAR(static_cast<double>(placed - last), static_cast<double>(kStep), 100.0) << at;  // a float of microseconds has no more
    timeline_.mayRebase(event, placed);
    last = placed;
  }
  EXPECT_NEAR(static_cast<double>(last - base), static_cast<double>(at), 100'000.0);  // what is left adds up to less than clocks drift
}

TEST_F(DeviceTimelineTest, TheEventThatWasReachedSoonestTellsTheDifference) {
  const int64_t delays[] = {900'000, 400'000, 6'000, 700'000};  // queued behind other work, but for the third
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t asked = i * 60 * kMillisecond;
    timeline_.note(DeviceTimeline::kOrigin + asked + delays[i], begin_ + static_cast<uint64_t>(asked));
  }
  EXPECT_FALSE(timeline_.due());
  timeline_.tell(output_);
  ASSERT_EQ(output_.pairs.size(), 2u);
  const int64_t at = DeviceTimeline::kOrigin + 100 * kMillisecond;
  EXPECT_NEAR(hostOf(at), static_cast<double>(begin_) + 100e6 - 6'000, 2.0);
}

TEST_F(DeviceTimelineTest, NoEventIsReachedBeforeItWasAskedFor) {
  uint32_t random = 7;
  std::vector<std::pair<int64_t, uint64_t>> noted;
  for (int64_t i = 0; i < 4000; ++i) {
    random = random * 1664525u + 1013904223u;
    const int64_t asked = i * kMillisecond;
    const auto drifted = static_cast<int64_t>(static_cast<double>(asked) * 1.00002);  // the device's clock is 20 ppm fast
    noted.emplace_back(DeviceTimeline::kOrigin + drifted + 5'000 + random % 40'000, begin_ + static_cast<uint64_t>(asked));
    timeline_.note(noted.back().first, noted.back().second);
    if (timeline_.due()) timeline_.tell(output_);
  }
  timeline_.tell(output_);
  EXPECT_GE(output_.pairs.size(), 15u);
  int early = 0;
  for (const auto& [at, asked] : noted) {
    early += hostOf(at) < static_cast<double>(asked) - 1000;
    EXPECT_LT(hostOf(at), static_cast<double>(asked) + 60'000);
  }
  EXPECT_EQ(early, 0);
}

TEST_F(DeviceTimelineTest, PairsRiseOnBothLines) {
  for (int64_t i = 0; i < 3000; ++i) {
    const int64_t backlog = (i % 700) * 50'000;  // the queue fills up, and is empty again
    timeline_.note(DeviceTimeline::kOrigin + i * kMillisecond + backlog, begin_ + static_cast<uint64_t>(i * kMillisecond));
    if (timeline_.due()) timeline_.tell(output_);
  }
  timeline_.tell(output_);
  ASSERT_GE(output_.pairs.size(), 5u);
  for (size_t i = 1; i < output_.pairs.size(); ++i) {
    EXPECT_GT(output_.pairs[i].device_ticks, output_.pairs[i - 1].device_ticks);
    EXPECT_GT(output_.pairs[i].host_ticks, output_.pairs[i - 1].host_ticks);
  }
}

TEST_F(DeviceTimelineTest, TicksAndNanosecondsOfTheHostAreOneClock) {
  rate_.measure();
  const uint64_t now = test::monotonicTicks();
  EXPECT_NEAR(static_cast<double>(rate_.nsOf(now) - rate_.nsOf(begin_)), static_cast<double>(now - begin_), 2000.0);
  EXPECT_NEAR(static_cast<double>(rate_.ticksOf(rate_.nsOf(now))), static_cast<double>(now), 2.0);
}

}  // namespace
}  // namespace xsigma::profiler::backends::cuda_events
