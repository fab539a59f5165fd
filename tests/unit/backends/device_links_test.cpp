// Device work on a simulated device: who asked for it, where it is shown, and when it was.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "../parsed_json.h"
#include "../profiled.h"
#include "backends/fake/fake_device.h"

namespace xsigma::profiler {
namespace {

using namespace std::chrono_literals;
using namespace profiled;
using backends::fake::FakeDevice;

const std::set<ActivityType> kBoth{ActivityType::CPU, ActivityType::CUDA};

class DeviceLinks : public testing::Test {
 protected:
  void SetUp() override { setenv("XSIGMA_PROFILER_BACKENDS", "fake", 1); }
  void TearDown() override {
    unsetenv("XSIGMA_PROFILER_BACKENDS");
    FakeDevice::get().setRoom(SIZE_MAX);
    FakeDevice::get().setHurry(false);
    FakeDevice::get().setDrift(0);
  }
  template <typename Body>
  std::unique_ptr<ProfilerResult> profileDevice(Body body, const ProfilerConfig& config = kineto()) {
    enableProfiler(config, kBoth);
    body();
    return disableProfiler();
  }
  FakeDevice& device = FakeDevice::get();
};

TEST_F(DeviceLinks, AKernelBelongsToTheInnermostScopeOfItsLaunch) {
  const auto result = profileDevice([&] {
    XSIGMA_PROFILE_SCOPE("outer");
    {
      XSIGMA_PROFILE_SCOPE("inner");
      device.launch("gemm", 7, 50us);
    }
    device.launch("after", 7, 10us);
  });
  const KinetoEvent inner = event(*result, "inner");
  const KinetoEvent gemm = event(*result, "gemm");
  EXPECT_EQ(gemm.linkedCorrelationId(), inner.correlationId());
  EXPECT_EQ(event(*result, "after").linkedCorrelationId(), event(*result, "outer").correlationId());
  EXPECT_EQ(gemm.durationNs(), 50'000u);
  EXPECT_EQ(gemm.deviceType(), DeviceType::CUDA);
  EXPECT_EQ(gemm.deviceIndex(), 0);
}

}  // namespace
}  // namespace xsigma::profiler
