// Hardware counters through the public calls, on a card. Kernels are PTX and the driver is opened at run time: no CUDA compiler is needed.
#include <gtest/gtest.h>
#include <unistd.h>
#include <xsigma/profiler/profiler.h>

#include <filesystem>
#include <string>
#include <vector>

#include "../unit/parsed_json.h"
#include "probe_cuda.h"

namespace {

using namespace xsigma::profiler;
using parsed::Json;

bool hasCard() {
  int count = 0;
  const probe::Driver* const driver = probe::driver();
  return driver != nullptr && driver->cuInit(0) == CUDA_SUCCESS && driver->cuDeviceGetCount(&count) == CUDA_SUCCESS && count > 0;
}

class Counters : public testing::Test {
 protected:
  void SetUp() override {
    if (!hasCard()) GTEST_SKIP() << "there is no CUDA device here";
  }

  static ProfilerConfig configOf(std::vector<std::string> metrics, bool per_kernel, std::chrono::microseconds interval = {}) {
    ExperimentalConfig wanted(std::move(metrics), per_kernel);
    wanted.profiler_sample_interval = interval;
    return ProfilerConfig(ProfilerState::KINETO, false, false, false, false, false, wanted);
  }
  // The driver may refuse; then the message must say what to do.
  static bool begin(const ProfilerConfig& config) {
    try {
      enableProfiler(config, {ActivityType::CPU, ActivityType::CUDA});
      return true;
    } catch (const ProfilerError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos) << message;
      return false;
    }
  }
  static std::vector<Json> end(std::string_view phase, std::string_view category) {
    const std::unique_ptr<ProfilerResult> result = disableProfiler();
    const std::string path = (std::filesystem::temp_directory_path() / ("counters." + std::to_string(getpid()) + ".json")).string();
    result->save(path);
    const Json trace = parsed::jsonFile(path);
    std::filesystem::remove(path);
    std::vector<Json> found;
    for (const Json& event : trace["traceEvents"].items) {
      if (event["ph"].text == phase && (category.empty() || event["cat"].text == category)) found.push_back(event);
    }
    return found;
  }
};

TEST_F(Counters, OfEachKernelAreItsOwn) {
  const probe::Card card;
  if (!begin(configOf({"sm__ctas_launched.sum"}, true))) GTEST_SKIP() << "the driver keeps the counters to administrators";
  for (unsigned i = 1; i <= 100; ++i) card.launch(i % 2 == 0 ? card.beta : card.alpha, 3 * i);
  card.wait();
  const std::vector<Json> ranges = end("X", "cuda_profiler_range");
  ASSERT_EQ(ranges.size(), 100u);
  for (unsigned i = 1; i <= 100; ++i) {
    EXPECT_EQ(ranges[i - 1]["name"].text, i % 2 == 0 ? "beta" : "alpha");
    EXPECT_EQ(ranges[i - 1]["args"]["sm__ctas_launched.sum"].number, 3 * i);
  }
}

TEST_F(Counters, OfASessionAreTheSumOfItsKernels) {
  const probe::Card card;
  card.launch(card.alpha, 1000);
  card.wait();
  if (!begin(configOf({"sm__ctas_launched.sum"}, false))) GTEST_SKIP() << "the driver keeps the counters to administrators";
  for (unsigned i = 1; i <= 10; ++i) card.launch(card.alpha, i);
  card.wait();
  const std::vector<Json> ranges = end("X", "cuda_profiler_range");
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0]["name"].text, "session");
  EXPECT_EQ(ranges[0]["args"]["sm__ctas_launched.sum"].number, 55);
}

TEST_F(Counters, AsSamplesShowWhenTheDeviceWasBusy) {
  const probe::Card card;
  if (!begin(configOf({"sm__cycles_active.avg"}, false, std::chrono::milliseconds(1)))) {
    GTEST_SKIP() << "the driver keeps the counters to administrators";
  }
  usleep(50'000);
  card.launchSpin(200'000'000, 264);
  card.wait();
  usleep(50'000);
  size_t busy = 0;
  double first = 0;
  double last = 0;
  for (const Json& sample : end("C", "")) {
    if (sample["name"].text.find("sm__cycles_active.avg") == std::string::npos) continue;
    ASSERT_EQ(sample["args"].members.size(), 1u);
    if (sample["args"].members[0].second.number < 1000) continue;
    if (busy++ == 0) first = sample["ts"].number;
    last = sample["ts"].number;
  }
  EXPECT_GE(busy, 150u);
  EXPECT_NEAR(last - first, 200'000, 20'000) << "microseconds from the first busy sample to the last";
}

TEST_F(Counters, AnUnknownMetricIsRefusedWithTheNameThatWasMeant) {
  const probe::Card card;
  for (const std::chrono::microseconds interval : {std::chrono::microseconds(0), std::chrono::microseconds(1000)}) {
    try {
      enableProfiler(configOf({"sm__ctas_lunched.sum"}, false, interval), {ActivityType::CPU, ActivityType::CUDA});
      ADD_FAILURE() << "it was accepted";
      (void)disableProfiler();
    } catch (const ProfilerError& error) {
      EXPECT_NE(std::string(error.what()).find("sm__ctas_launched.sum"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
