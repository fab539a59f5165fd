// The words for states and activities, and the slot that a session sits in while it is on.
#include "xsigma/profiler/observer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "../profiled.h"
#include "../warnings.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;

TEST(Words, EveryActivityHasOne) {
  const Names expected{"CPU", "XPU", "CUDA", "HPU", "MTIA", "PrivateUse1", "(no activity)"};
  Names found;
  for (int i = 0; i <= static_cast<int>(ActivityType::NUM_KINETO_ACTIVITIES); ++i)
    found.push_back(actToString(static_cast<ActivityType>(i)));
  EXPECT_EQ(found, expected);
  EXPECT_STREQ(actToString(static_cast<ActivityType>(99)), "(no activity)");
}

TEST(Words, EveryStateHasOne) {
  const Names expected{
      "Disabled",        "CPU",       "CUDA", "NVTX", "ITT", "PRIVATEUSE1", "KINETO", "KINETO_GPU_FALLBACK", "KINETO_PRIVATEUSE1_FALLBACK",
      "KINETO_ONDEMAND", "(no state)"};
  Names found;
  for (int i = 0; i <= static_cast<int>(ProfilerState::NUM_PROFILER_STATES); ++i) found.push_back(toString(static_cast<ProfilerState>(i)));
  EXPECT_EQ(found, expected);
  EXPECT_STREQ(toString(static_cast<ProfilerState>(99)), "(no state)");
}

TEST(Config, TakesTheArgumentsInTheOrderOfTheSeed) {
  const ProfilerConfig config(ProfilerState::KINETO, true, false, true, false, true, ExperimentalConfig(), "id 7");
  EXPECT_TRUE(config.report_input_shapes);
  EXPECT_FALSE(config.profile_memory);
  EXPECT_TRUE(config.with_stack);
  EXPECT_FALSE(config.with_flops);
  EXPECT_TRUE(config.with_modules);
  EXPECT_EQ(config.trace_id, "id 7");
  EXPECT_FALSE(config.disabled());
  EXPECT_TRUE(ProfilerConfig(ProfilerState::Disabled).disabled());
}

TEST(Config, IsOfAllThreadsOnDemandOrWhereAskedFor) {
  EXPECT_FALSE(kineto().pushGlobalCallbacks());
  EXPECT_FALSE(allThreads().global());
  EXPECT_TRUE(allThreads().pushGlobalCallbacks());
  EXPECT_TRUE(ProfilerConfig(ProfilerState::KINETO_ONDEMAND).global());
  EXPECT_TRUE(ProfilerConfig(ProfilerState::KINETO_ONDEMAND).pushGlobalCallbacks());
}

TEST(ExperimentalConfiguration, TakesTheArgumentsInTheOrderOfTheSeed) {
  const ExperimentalConfig config({"metric"}, true, false, {"cycles"}, true, false, true, false, true, false, true, "custom", true);
  EXPECT_EQ(config.profiler_metrics, Names{"metric"});
  EXPECT_TRUE(config.profiler_measure_per_kernel);
  EXPECT_FALSE(config.verbose);
  EXPECT_EQ(config.performance_events, Names{"cycles"});
  EXPECT_TRUE(config.enable_cuda_sync_events);
  EXPECT_FALSE(config.adjust_profiler_step);
  EXPECT_TRUE(config.disable_external_correlation);
  EXPECT_FALSE(config.profile_all_threads);
  EXPECT_TRUE(config.capture_overload_names);
  EXPECT_FALSE(config.record_python_gc_info);
  EXPECT_TRUE(config.expose_kineto_event_metadata);
  EXPECT_EQ(config.custom_profiler_config, "custom");
  EXPECT_TRUE(config.adjust_timestamps);
  EXPECT_TRUE(static_cast<bool>(config)) << "there are metrics";
  EXPECT_FALSE(static_cast<bool>(ExperimentalConfig()));
}

// A session of somebody else's making.
struct OwnState : ProfilerStateBase {
  using ProfilerStateBase::ProfilerStateBase;
  ActiveProfilerType profilerType() override { return ActiveProfilerType::LEGACY; }
};

TEST(StateSlot, IsOfTheThreadThatPushed) {
  const auto state = std::make_shared<OwnState>(kineto());
  ProfilerStateBase::push(state);
  EXPECT_EQ(ProfilerStateBase::get(), state);
  EXPECT_EQ(ProfilerStateBase::get(false), state);
  EXPECT_EQ(ProfilerStateBase::get(true), nullptr);
  EXPECT_EQ(profilerType(), ActiveProfilerType::LEGACY);
  std::thread([] { EXPECT_EQ(ProfilerStateBase::get(), nullptr); }).join();
  EXPECT_EQ(ProfilerStateBase::pop(true), nullptr);
  EXPECT_EQ(ProfilerStateBase::pop(), state);
  EXPECT_EQ(ProfilerStateBase::get(), nullptr);
  EXPECT_EQ(ProfilerStateBase::pop(), nullptr);
}

TEST(StateSlot, OfAllThreadsIsSeenByAll) {
  const auto state = std::make_shared<OwnState>(allThreads());
  ProfilerStateBase::push(state);
  EXPECT_EQ(ProfilerStateBase::get(false), nullptr);
  std::thread([&] { EXPECT_EQ(ProfilerStateBase::get(), state); }).join();
  std::thread([&] { EXPECT_EQ(ProfilerStateBase::pop(), state); }).join();
  EXPECT_EQ(ProfilerStateBase::get(true), nullptr);
}

TEST(StateSlot, OfTheThreadGoesBeforeThatOfAll) {
  const auto own = std::make_shared<OwnState>(kineto());
  const auto everyones = std::make_shared<OwnState>(allThreads());
  ProfilerStateBase::push(everyones);
  ProfilerStateBase::push(own);
  EXPECT_EQ(ProfilerStateBase::get(), own);
  EXPECT_EQ(ProfilerStateBase::pop(), own);
  EXPECT_EQ(ProfilerStateBase::get(), everyones);
  EXPECT_EQ(ProfilerStateBase::pop(), everyones);
}

TEST(StateSlot, HoldsOne) {
  for (const ProfilerConfig& config : {kineto(), allThreads()}) {
    const auto state = std::make_shared<OwnState>(config);
    ProfilerStateBase::push(state);
    expectWords(refusal([&] { ProfilerStateBase::push(std::make_shared<OwnState>(config)); }), {"already enabled", "disableProfiler()"});
    EXPECT_EQ(ProfilerStateBase::pop(), state);
  }
}

TEST(StateSlot, OfSomebodyElseIsNotTakenByDisableProfiler) {
  const auto state = std::make_shared<OwnState>(kineto());
  ProfilerStateBase::push(state);
  expectWords(refusal([] { enableProfiler(kineto(), kCpu); }), {"already enabled"});
  expectWords(refusal([] { disableProfiler(); }), {"not running"});
  EXPECT_EQ(ProfilerStateBase::pop(), state);
  expectUsable();
}

TEST(SessionThatIsOn, SaysSoAndWhatItWasAskedFor) {
  EXPECT_FALSE(profilerEnabled());
  EXPECT_EQ(profilerType(), ActiveProfilerType::NONE);
  expectWords(refusal([] { getProfilerConfig(); }), {"not enabled", "enableProfiler()"});

  enableProfiler(ProfilerConfig(ProfilerState::CPU, true, true, false, false, true, {}, "my id"), kCpu);
  EXPECT_TRUE(profilerEnabled());
  EXPECT_EQ(profilerType(), ActiveProfilerType::KINETO);
  EXPECT_EQ(getProfilerConfig().state, ProfilerState::KINETO) << "CPU is another word for it";
  EXPECT_EQ(getProfilerConfig().trace_id, "my id");
  EXPECT_TRUE(getProfilerConfig().with_modules);
  EXPECT_TRUE(ProfilerStateBase::get()->memoryProfilingEnabled());
  EXPECT_EQ(KinetoThreadLocalState::get(false), ProfilerStateBase::get());
  EXPECT_EQ(KinetoThreadLocalState::get(true), nullptr);
  std::thread([] {
    EXPECT_FALSE(profilerEnabled());
    EXPECT_EQ(profilerType(), ActiveProfilerType::NONE);
  }).join();
  disableProfiler();

  EXPECT_FALSE(profilerEnabled());
  EXPECT_EQ(profilerType(), ActiveProfilerType::NONE);
  expectWords(refusal([] { getProfilerConfig(); }), {"not enabled"});
}

TEST(SessionThatIsOn, ForAllThreadsIsOnEverywhere) {
  enableProfiler(allThreads(), kCpu);
  EXPECT_EQ(KinetoThreadLocalState::get(true), ProfilerStateBase::get());
  std::thread([] {
    EXPECT_TRUE(profilerEnabled());
    EXPECT_TRUE(getProfilerConfig().experimental_config.profile_all_threads);
  }).join();
  disableProfiler();
  EXPECT_FALSE(profilerEnabled());
}

int starts = 0;

CallbackHandle counting() {
  return addGlobalCallback(RecordFunctionCallback([](const RecordFunction&) -> std::unique_ptr<ObserverContext> {
    ++starts;
    return nullptr;
  }));
}

TEST(CallbackOfASession, IsReplacedByTheNextAndGoesWithTheSession) {
  starts = 0;
  enableProfiler(kineto(), kCpu);
  const std::shared_ptr<ProfilerStateBase> state = ProfilerStateBase::get();
  EXPECT_FALSE(state->hasCallbackHandle());
  state->setCallbackHandle(counting());
  EXPECT_TRUE(state->hasCallbackHandle());
  scopeCalled("one");
  EXPECT_EQ(starts, 1);
  state->setCallbackHandle(counting());
  scopeCalled("two");
  EXPECT_EQ(starts, 2) << "the first callback is gone";
  disableProfiler();
  EXPECT_FALSE(state->hasCallbackHandle());
  scopeCalled("three");
  EXPECT_EQ(starts, 2);
  EXPECT_FALSE(hasCallbacks());
}

TEST(CallbackOfASession, CanBeRemovedBefore) {
  starts = 0;
  OwnState state(kineto());
  state.setCallbackHandle(counting());
  state.removeCallback();
  EXPECT_FALSE(state.hasCallbackHandle());
  scopeCalled("one");
  state.removeCallback();
  EXPECT_EQ(starts, 0);
  EXPECT_FALSE(hasCallbacks());
}

TEST(CallbackOfASession, GoesWithTheStateThatIsDropped) {
  { std::make_shared<OwnState>(kineto())->setCallbackHandle(counting()); }
  EXPECT_FALSE(hasCallbacks());
}

}  // namespace
}  // namespace xsigma::profiler
