// What this build cannot do is refused by name: no call pretends.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "../profiled.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;

TEST(UnsupportedStates, AreRefusedByName) {
  const std::pair<ProfilerState, std::string_view> states[] = {
      {ProfilerState::ITT, "emitter"},
      {ProfilerState::NVTX, "emitter"},
      {ProfilerState::PRIVATEUSE1, "no device backend"},
      {ProfilerState::KINETO_PRIVATEUSE1_FALLBACK, "no device backend"},
  };
  for (const auto& [state, why] : states) {
    expectWords(refusal([state = state] { enableProfiler(ProfilerConfig(state), kCpu); }),
                {"ProfilerState::" + std::string(toString(state)), why, "Use KINETO"});
    EXPECT_FALSE(profilerEnabled());
  }
  expectUsable();
}

TEST(UnsupportedStates, DisabledAsksForNothing) {
  expectWords(refusal([] { enableProfiler(ProfilerConfig(ProfilerState::Disabled), kCpu); }), {"ProfilerState::Disabled", "KINETO"});
  expectUsable();
}

TEST(UnsupportedStates, ANumberThatIsNoneIsRefused) {
  expectWords(refusal([] { enableProfiler(ProfilerConfig(ProfilerState::NUM_PROFILER_STATES), kCpu); }),
              {"10", "no ProfilerState", "KINETO"});
  expectUsable();
}

TEST(UnsupportedStates, CpuIsKinetoWhateverTheActivities) {
  enableProfiler(ProfilerConfig(ProfilerState::CPU), {});
  scopeCalled("a");
  EXPECT_EQ(names(*disableProfiler()), Names{"a"});
}

TEST(UnsupportedStates, ThatOnlyTellOthersTakeNoPostProcessing) {
  for (const ProfilerState state : {ProfilerState::ITT, ProfilerState::NVTX, ProfilerState::PRIVATEUSE1}) {
    const auto enable = [state] {
      enableProfilerWithEventPostProcess(ProfilerConfig(state), kCpu, [](int64_t, std::vector<std::string>&, std::vector<std::string>&) {});
    };
    expectWords(refusal(enable), {toString(state), "post-processing callback", "Use KINETO"});
  }
  expectUsable();
}

TEST(UnsupportedActivities, AreRefusedByName) {
  for (const ActivityType activity : {ActivityType::XPU, ActivityType::HPU, ActivityType::MTIA}) {
    const std::string name = std::string("ActivityType::") + actToString(activity);
    expectWords(refusal([=] { enableProfiler(kineto(), {ActivityType::CPU, activity}); }), {name, "no backend", "Leave it out"});
    expectWords(refusal([=] { prepareProfiler(kineto(), {activity}); }), {name});
    EXPECT_FALSE(profilerEnabled());
  }
  expectUsable();
}

TEST(UnsupportedFields, AreRefusedByName) {
  const std::pair<const char*, std::function<void(ProfilerConfig&)>> fields[] = {
      {"adjust_profiler_step", [](ProfilerConfig& config) { config.experimental_config.adjust_profiler_step = true; }},
      {"record_python_gc_info", [](ProfilerConfig& config) { config.experimental_config.record_python_gc_info = true; }},
      {"capture_overload_names", [](ProfilerConfig& config) { config.experimental_config.capture_overload_names = true; }},
      {"adjust_timestamps", [](ProfilerConfig& config) { config.experimental_config.adjust_timestamps = true; }},
      {"custom_profiler_config", [](ProfilerConfig& config) { config.experimental_config.custom_profiler_config = "text"; }},
      {"assembly_deadline", [](ProfilerConfig& config) { config.experimental_config.assembly_deadline = std::chrono::nanoseconds(-1); }},
      {"trace_only with with_stack",
       [](ProfilerConfig& config) {
         config.experimental_config.trace_only = true;
         config.with_stack = true;
       }},
  };
  for (const auto& [name, set] : fields) {
    ProfilerConfig config = kineto();
    set(config);
    expectWords(refusal([&] { enableProfiler(config, kCpu); }),
                {std::string("ExperimentalConfig::") + name, "was asked for", "cannot be honoured here"});
    EXPECT_FALSE(profilerEnabled()) << name;
    EXPECT_FALSE(isProfilerEnabledInMainThread()) << name;
  }
  expectUsable();
}

TEST(UnsupportedFields, OfDevicesNeedADeviceAmongTheActivities) {
  const std::pair<const char*, std::function<void(ExperimentalConfig&)>> fields[] = {
      {"profiler_metrics", [](ExperimentalConfig& wanted) { wanted.profiler_metrics = {"sm__cycles_active.avg"}; }},
      {"profiler_measure_per_kernel", [](ExperimentalConfig& wanted) { wanted.profiler_measure_per_kernel = true; }},
      {"enable_cuda_sync_events", [](ExperimentalConfig& wanted) { wanted.enable_cuda_sync_events = true; }},
  };
  for (const auto& [name, set] : fields) {
    ProfilerConfig config = kineto();
    set(config.experimental_config);
    expectWords(refusal([&] { enableProfiler(config, kCpu); }),
                {std::string("ExperimentalConfig::") + name, "no device is among the activities", "Add ActivityType::CUDA"});
    EXPECT_FALSE(profilerEnabled()) << name;
  }
  expectUsable();
}

TEST(UnsupportedFields, ThatSayHowToCountNeedSomethingToCount) {
  ProfilerConfig per_kernel = kineto();
  per_kernel.experimental_config.profiler_measure_per_kernel = true;
  ProfilerConfig samples = kineto();
  samples.experimental_config.profiler_sample_interval = std::chrono::milliseconds(1);
  const std::set<ActivityType> with_device{ActivityType::CPU, ActivityType::CUDA};
  expectWords(refusal([&] { enableProfiler(per_kernel, with_device); }),
              {"ExperimentalConfig::profiler_measure_per_kernel", "nothing to measure", "profiler_metrics"});
  expectWords(refusal([&] { enableProfiler(samples, with_device); }),
              {"ExperimentalConfig::profiler_sample_interval", "nothing to sample", "profiler_metrics"});
  samples.experimental_config.profiler_metrics = {"sm__cycles_active.avg"};
  samples.experimental_config.profiler_sample_interval = std::chrono::milliseconds(-1);
  expectWords(refusal([&] { enableProfiler(samples, with_device); }), {"ExperimentalConfig::profiler_sample_interval below zero"});
  EXPECT_FALSE(profilerEnabled());
  expectUsable();
}

TEST(UnsupportedFields, APostProcessCallbackHasNoEventsWithTraceOnly) {
  ProfilerConfig config = kineto();
  config.experimental_config.trace_only = true;
  const auto enable = [&] {
    enableProfilerWithEventPostProcess(config, kCpu, [](int64_t, std::vector<std::string>&, std::vector<std::string>&) {});
  };
  expectWords(refusal(enable), {"trace_only", "post-process"});
  expectUsable();
}

std::string refusedCounters(std::vector<std::string> names) {
  ProfilerConfig config = kineto();
  config.experimental_config.performance_events = std::move(names);
  return refusal([&] { enableProfiler(config, kCpu); });
}

TEST(PerformanceEvents, ThatAreUnknownAreAnsweredWithThoseThatAreKnown) {
  expectWords(refusedCounters({"flux"}), {"performance_events", "'flux'", "cycles", "instructions", "pagefaults", "context-switches"});
  expectUsable();
}

TEST(PerformanceEvents, AreFourAtMost) {
  expectWords(refusedCounters({"cycles", "instructions", "branches", "cache-misses", "pagefaults"}),
              {"performance_events", "5", "at most 4"});
  expectUsable();
}

TEST(PerformanceEvents, AreNamedOnce) {
  expectWords(refusedCounters({"pagefaults", "pagefaults"}), {"performance_events", "'pagefaults'", "twice", "once"});
  expectUsable();
}

TEST(PerformanceEvents, ThatTheMachineRefusesAreRefusedByName) {
  ProfilerConfig config = kineto();
  config.experimental_config.performance_events = {"cycles"};
  try {
    enableProfiler(config, kCpu);
  } catch (const ProfilerError& error) {
    expectWords(error.what(), {"performance_events", "'cycles'", "cannot be counted here", "leave it out"});
    expectUsable();
    return;
  }
  disableProfiler();
  GTEST_SKIP() << "this machine counts cycles";
}

}  // namespace
}  // namespace xsigma::profiler
