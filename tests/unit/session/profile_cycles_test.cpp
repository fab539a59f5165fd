// A Profile from action to action: what starts, what stops, what is ready, what is kept.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "../warnings.h"
#include "profile_steps.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;

struct Transition {
  const char* from_to;  // '.' is the end of the run
  size_t ready;         // handlers called for it
  size_t kept;          // results
  bool recording;       // afterwards
  bool new_id;          // prepared for it
  const char* warning;
};

// torch.profiler's table.
constexpr Transition kTransitions[] = {
    {"NN", 0, 0, false, false, ""},
    {"NW", 0, 0, false, true, ""},
    {"NR", 0, 0, true, true, ""},
    {"NS", 0, 0, true, true, ""},
    {"N.", 0, 0, false, false, ""},
    {"WN", 0, 0, false, false, "Incorrect schedule: WARMUP followed by NONE"},
    {"WW", 0, 0, false, false, ""},
    {"WR", 0, 0, true, false, ""},
    {"WS", 0, 0, true, false, ""},
    {"W.", 0, 0, false, false, ""},
    {"RN", 0, 1, false, false, "Incorrect schedule: RECORD followed by NONE"},
    {"RW", 0, 1, false, false, "Incorrect schedule: RECORD followed by WARMUP"},
    {"RR", 0, 0, true, false, ""},
    {"RS", 0, 0, true, false, ""},
    {"R.", 1, 1, false, false, ""},
    {"SN", 1, 1, false, false, ""},
    {"SW", 1, 1, false, true, ""},
    {"SR", 1, 1, true, true, ""},
    {"SS", 1, 1, true, true, ""},
    {"S.", 1, 1, false, false, ""},
};

TEST(AProfile, GoesFromActionToActionAsTheTableSays) {
  for (const Transition& expected : kTransitions) {
    SCOPED_TRACE(expected.from_to);
    const Warnings warnings;
    size_t ready = 0;
    const bool ends = expected.from_to[1] == '.';
    Profile profile(scheduled(byText(std::string(expected.from_to, ends ? 1 : 2)), [&](Profile&) { ++ready; }));
    profile.start();
    const std::string id = profile.traceId();
    EXPECT_EQ(id.empty(), expected.from_to[0] == 'N') << "every other first action prepares";
    if (ends) {
      profile.stop();
    } else {
      profile.step();
    }
    EXPECT_EQ(ready, expected.ready);
    EXPECT_EQ(profile.results().size(), expected.kept);
    EXPECT_EQ(profilerEnabled(), expected.recording);
    EXPECT_EQ(profile.traceId() != id, expected.new_id);
    EXPECT_EQ(profile.running(), !ends);
    ASSERT_EQ(warnings.count(), std::string(expected.warning).empty() ? 0u : 1u);
    if (warnings.count() != 0) expectWords(warnings.all()[0], {expected.warning});
  }
  EXPECT_FALSE(profilerEnabled());
}

TEST(AProfile, RecordsItsActiveStepsAndNothingElse) {
  std::vector<Names> cycles;
  Profile profile(scheduled(byText("NWRSNWRRS"), [&](Profile& ready) { cycles.push_back(names(*ready.result())); }));
  runSteps(profile, 12);
  ASSERT_EQ(cycles.size(), 2u);
  EXPECT_EQ(cycles[0], (Names{"ProfilerStep#2", "work 2", "ProfilerStep#3", "work 3"}));
  EXPECT_EQ(cycles[1], (Names{"ProfilerStep#6", "work 6", "ProfilerStep#7", "work 7", "ProfilerStep#8", "work 8"}));
  EXPECT_EQ(names(*profile.result()), cycles[1]) << "the last one stays";
  EXPECT_EQ(profile.results().size(), 1u);
  EXPECT_EQ(profile.events().size(), 6u);
  EXPECT_EQ(profile.cycle(), 2);
}

TEST(AProfile, CallsItsHandlerOncePerCycleAfterTheStepThatSaves) {
  std::string calls;
  Profile profile(scheduled(schedule(1, 1, 2, 3), [&](Profile& ready) {
    calls += std::to_string(ready.cycle()) + "@" + std::to_string(ready.stepNumber()) + " ";
    EXPECT_TRUE(ready.running());
  }));
  runSteps(profile, 40);
  EXPECT_EQ(calls, "1@4 2@8 3@12 ");
}

TEST(AProfile, ThatIsStoppedWhileItRecordsHasItsCycleReady) {
  size_t ready = 0;
  Profile profile(scheduled(schedule(0, 1, 10), [&](Profile&) { ++ready; }));
  runSteps(profile, 3);
  EXPECT_EQ(ready, 1u);
  EXPECT_EQ(names(*profile.result()), (Names{"ProfilerStep#1", "work 1", "ProfilerStep#2", "work 2", "ProfilerStep#3"}));
}

TEST(AProfile, KeepsWhatACycleRecordedThatWasNotSaved) {
  const Warnings warnings;
  size_t ready = 0;
  Profile profile(scheduled(byText("RN"), [&](Profile&) { ++ready; }));
  runSteps(profile, 2);
  EXPECT_EQ(ready, 0u);
  EXPECT_EQ(names(*profile.result()), (Names{"ProfilerStep#0", "work 0"}));
}

TEST(AProfile, ThatEndsInWarmUpKeepsTheCycleBefore) {
  Profile profile(scheduled(byText("SW")));
  runSteps(profile, 1);
  EXPECT_EQ(names(*profile.result()), (Names{"ProfilerStep#0", "work 0"}));
}

TEST(AProfile, WithoutAScheduleRecordsFromStartToStopWithoutMarks) {
  size_t ready = 0;
  Profile profile(scheduled(nullptr, [&](Profile&) { ++ready; }));
  runSteps(profile, 3);
  EXPECT_EQ(ready, 1u);
  EXPECT_EQ(names(*profile.result()), (Names{"work 0", "work 1", "work 2"}));
  EXPECT_EQ(profile.stepNumber(), 3);
}

TEST(AProfile, AccumulatesEventsOverCyclesIfAsked) {
  const Warnings warnings;
  ProfileOptions options = scheduled(byText("SWS"));
  options.acc_events = true;
  Profile profile(std::move(options));
  runSteps(profile, 3);
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"acc_events", "memory grows"});
  ASSERT_EQ(profile.results().size(), 2u);
  Names all;
  for (const KinetoEvent& each : profile.events()) all.push_back(each.name());
  EXPECT_EQ(all, (Names{"ProfilerStep#0", "work 0", "ProfilerStep#2", "work 2"}));
  EXPECT_EQ(names(*profile.result()), (Names{"ProfilerStep#2", "work 2"}));
}

TEST(AProfile, PutsTogetherTheCyclesThatItKeeps) {
  const Warnings warnings;
  const Folder folder;
  for (const bool accumulated : {false, true}) {
    ProfileOptions options = scheduled(byText("SWRS"));
    options.acc_events = accumulated;
    Profile profile(std::move(options));
    expectWords(refusal([&] { profile.keyAverages(); }), {"no cycle"});
    runSteps(profile, 4);
    EXPECT_EQ(profile.keyAverages().at("ProfilerStep*").calls, accumulated ? 3u : 2u);
    profile.exportStacks(folder / "stacks.txt");
    const std::string stacks = contents(folder / "stacks.txt");
    EXPECT_EQ(stacks.find("work_0"), std::string::npos) << "of the last cycle";
    expectWords(stacks, {"ProfilerStep#2;work_2 ", "ProfilerStep#3;work_3 "});
  }
}

TEST(AProfile, DrawsTheMemoryOfItsLastCycle) {
  const Folder folder;
  ProfileOptions options = scheduled(byText("SS"));
  options.profile_memory = true;
  Profile profile(std::move(options));
  profile.start();
  int blocks[2] = {};
  for (int& block : blocks) {
    reportMemoryUsage(&block, &block == blocks ? 111 : 222, 333, 333);
    profile.step();
  }
  profile.stop();
  profile.exportMemoryTimeline(folder / "memory.json");
  const std::string json = contents(folder / "memory.json");
  EXPECT_EQ(json.find("\"size\": 111"), std::string::npos) << "of the last cycle";
  expectWords(json, {"\"size\": 222", "ProfilerStep#1"});
  Profile without(scheduled(byText("S")));
  runSteps(without, 1);
  expectWords(refusal([&] { without.exportMemoryTimeline(folder / "none.html"); }), {"profile_memory"});
}

TEST(AProfile, RunsAgainFromStepZero) {
  size_t ready = 0;
  Profile profile(scheduled(byText("WS"), [&](Profile&) { ++ready; }));
  for (size_t run = 1; run <= 2; ++run) {
    runSteps(profile, 3);
    EXPECT_EQ(ready, run);
    EXPECT_EQ(names(*profile.result()), (Names{"ProfilerStep#1", "work 1"}));
  }
  EXPECT_EQ(profile.cycle(), 2);
}

TEST(AProfile, TogglesCollectionWithinACycle) {
  std::vector<Names> cycles;
  Profile profile(scheduled(byText("SS"), [&](Profile& ready) { cycles.push_back(names(*ready.result())); }));
  profile.start();
  scopeCalled("before");
  profile.toggleCollectionDynamic(false, kCpu);
  scopeCalled("off");
  profile.toggleCollectionDynamic(true, kCpu);
  scopeCalled("on again");
  profile.toggleCollectionDynamic(false, kCpu);
  profile.step();
  scopeCalled("next cycle");
  profile.stop();
  ASSERT_EQ(cycles.size(), 2u);
  EXPECT_EQ(cycles[0], (Names{"ProfilerStep#0", "before", "on again"}));
  EXPECT_EQ(cycles[1], (Names{"ProfilerStep#1", "next cycle"})) << "a cycle begins with collection on";
}

TEST(AProfile, TogglesNothingWhileNothingIsRecorded) {
  Profile profile(scheduled(byText("NS")));
  profile.start();
  const Warnings warnings;
  profile.toggleCollectionDynamic(false, kCpu);
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"nothing to toggle"});
  profile.step();
  scopeCalled("recorded");
  profile.stop();
  EXPECT_EQ(names(*profile.result()), (Names{"ProfilerStep#1", "recorded"}));
}

TEST(AProfile, LeavesOutACycleThatCannotStartAndGoesOn) {
  const Warnings warnings;
  size_t ready = 0;
  Profile profile(scheduled(byText("NSNS"), [&](Profile&) { ++ready; }));
  profile.start();
  enableProfiler(allThreads(), kCpu);
  profile.step();
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"step 1", "left out", "already enabled for all threads"});
  disableProfiler();
  profile.step();
  EXPECT_EQ(ready, 0u);
  profile.step();
  scopeCalled("recorded");
  profile.stop();
  EXPECT_EQ(ready, 1u);
  EXPECT_EQ(names(*profile.result()), (Names{"ProfilerStep#3", "recorded"}));
  EXPECT_EQ(warnings.count(), 1u);
}

TEST(AProfile, OfACaptureFileWritesOneFilePerCycle) {
  for (const bool by_environment : {false, true}) {
    const Folder folder;
    ProfileOptions options = scheduled(byText("SNS"));
    if (by_environment) {
      setenv("XSIGMA_PROFILER_FILE", (folder / "run.xst").c_str(), 1);
    } else {
      options.experimental_config.capture.path = folder / "run.xst";
    }
    Profile profile(std::move(options));
    runSteps(profile, 3);
    unsetenv("XSIGMA_PROFILER_FILE");
    EXPECT_EQ(folder.files(), (Names{"run.2.xst", "run.xst"}));
    EXPECT_EQ(profile.result()->capture().ledger().recorded, 2u);
    EXPECT_EQ(openCapture(folder / "run.xst").value().ledger().recorded, 2u);
  }
}

}  // namespace
}  // namespace xsigma::profiler
