// A device that is asked for and cannot be watched: beside the CPU it is a warning, alone or with counters it is an error.
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <set>
#include <string_view>

#include "../named_backends.h"
#include "../parsed_json.h"
#include "../profiled.h"
#include "../warnings.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;
using parsed::Json;

const std::set<ActivityType> kCpuAndCuda{ActivityType::CPU, ActivityType::CUDA};

class MissingDevice : public testing::Test {
 protected:
  void TearDown() override {
    if (profilerEnabled()) disableProfiler();  // a session that was not refused fails one test, not those after it
  }
  static std::unique_ptr<ProfilerResult> profileHost(const ProfilerConfig& config, const std::set<ActivityType>& activities) {
    enableProfiler(config, activities);
    scopeCalled("host");
    auto result = disableProfiler();
    EXPECT_EQ(names(*result), Names{"host"});
    return result;
  }
  // What the trace says of devices.
  static Json devices(ProfilerResult& result) {
    const Folder folder;
    result.save(folder / "trace.json");
    return parsed::jsonFile(folder / "trace.json")["xsigmaDevices"];
  }
  static void expectNotRecorded(const Json& about, std::initializer_list<std::string_view> why) {
    EXPECT_EQ(about["recorded"].kind, Json::Kind::boolean);
    EXPECT_FALSE(about["recorded"].boolean);
    expectWords(about["why"].text, why);
  }

  NamedBackends none_{"none"};
  Warnings warnings_;
};

TEST_F(MissingDevice, BesideTheCpuIsWarnedOfAndTheTraceSaysWhy) {
  const auto result = profileHost(kineto(), kCpuAndCuda);
  const Json said = devices(*result);
  EXPECT_EQ(said.members.size(), 1u);
  expectNotRecorded(said["CUDA"], {"XSIGMA_PROFILER_BACKENDS=none leaves it out"});
  ASSERT_EQ(warnings_.count(), 1u);
  expectWords(warnings_.all()[0], {"CUDA is not recorded", "XSIGMA_PROFILER_BACKENDS=none leaves it out"});
}

TEST_F(MissingDevice, AloneIsAnErrorThatSaysWhy) {
  expectWords(refusal([] { enableProfiler(kineto(), {ActivityType::CUDA}); }), {"XSIGMA_PROFILER_BACKENDS=none leaves it out"});
  EXPECT_FALSE(profilerEnabled());
  EXPECT_EQ(warnings_.count(), 0u);
  expectUsable();
}

TEST_F(MissingDevice, IsAskedForByTheStateCudaWhateverTheActivities) {
  const auto result = profileHost(ProfilerConfig(ProfilerState::CUDA), kCpu);
  expectNotRecorded(devices(*result)["CUDA"], {"XSIGMA_PROFILER_BACKENDS=none"});
  EXPECT_EQ(warnings_.count(), 1u);
}

TEST_F(MissingDevice, OfTheGpuFallbackIsThatOfTheBackendThatTimesScopes) {
  const auto result = profileHost(ProfilerConfig(ProfilerState::KINETO_GPU_FALLBACK), kCpuAndCuda);
  const Json about = devices(*result)["CUDA"];
  expectNotRecorded(about, {"cuda_events: XSIGMA_PROFILER_BACKENDS=none"});
  EXPECT_EQ(about["why"].text.find("cupti"), std::string::npos) << "the other backend was asked too: " << about["why"].text;
  EXPECT_EQ(warnings_.count(), 1u);
}

TEST_F(MissingDevice, IsNotMissedByAGpuFallbackOfTheCpuAlone) {
  const auto result = profileHost(ProfilerConfig(ProfilerState::KINETO_GPU_FALLBACK), kCpu);
  EXPECT_EQ(devices(*result).kind, Json::Kind::null);
  EXPECT_EQ(warnings_.count(), 0u);
}

TEST_F(MissingDevice, WithABackendThatSaysNoIsGivenItsReason) {
  const NamedBackends other("fake,template");  // the template takes its own name alone for a yes
  const auto result = profileHost(kineto(), {ActivityType::CPU, ActivityType::PrivateUse1});
  expectNotRecorded(devices(*result)["PrivateUse1"], {"template: the template watches no device"});
  ASSERT_EQ(warnings_.count(), 1u);
  expectWords(warnings_.all()[0], {"PrivateUse1 is not recorded", "the template watches no device"});
  expectWords(refusal([] { enableProfiler(kineto(), {ActivityType::PrivateUse1}); }), {"the template watches no device"});
  EXPECT_FALSE(profilerEnabled());
  expectUsable();
}

TEST_F(MissingDevice, OfSeveralEachIsNamed) {
  const auto result = profileHost(kineto(), {ActivityType::CPU, ActivityType::CUDA, ActivityType::PrivateUse1});
  const Json said = devices(*result);
  EXPECT_EQ(said.members.size(), 2u);
  expectNotRecorded(said["CUDA"], {"XSIGMA_PROFILER_BACKENDS=none"});
  expectNotRecorded(said["PrivateUse1"], {"template: XSIGMA_PROFILER_BACKENDS=none"});
  EXPECT_EQ(warnings_.count(), 2u);
}

TEST_F(MissingDevice, IsAnErrorIfItsCountersAreAskedFor) {
  ProfilerConfig config = kineto();
  config.experimental_config.profiler_metrics = {"sm__cycles_active.avg"};
  expectWords(refusal([&] { enableProfiler(config, kCpuAndCuda); }), {"XSIGMA_PROFILER_BACKENDS=none leaves it out"});
  ASSERT_FALSE(profilerEnabled());
  EXPECT_EQ(warnings_.count(), 0u);
  expectUsable();
}

}  // namespace
}  // namespace xsigma::profiler
