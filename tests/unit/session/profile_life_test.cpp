// Profiles among threads, other sessions, forks and ends of scopes; and what they refuse.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "../named_backends.h"
#include "../warnings.h"
#include "profile_steps.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;

TEST(AProfile, RecordsAllThreadsUnlessToldOtherwise) {
  for (const bool all : {true, false}) {
    ProfileOptions options;
    options.all_threads = all;
    Profile profile(std::move(options));
    profile.start();
    std::thread([] { scopeCalled("stranger"); }).join();
    std::thread([] {
      enableProfilerInChildThread();
      scopeCalled("joiner");
      disableProfilerInChildThread();
    }).join();
    scopeCalled("own");
    profile.stop();
    EXPECT_EQ(names(*profile.result()), all ? (Names{"stranger", "joiner", "own"}) : (Names{"joiner", "own"}));
  }
}

TEST(AProfile, EndsItsOwnSessionAmongThoseOfItsThread) {
  Profile profile(scheduled(byText("SS")));
  profile.start();
  scopeCalled("first");
  enableProfiler(kineto(), kCpu);
  scopeCalled("both");
  profile.step();
  EXPECT_EQ(names(*profile.result()), (Names{"ProfilerStep#0", "first", "both"}));
  profile.stop();
  EXPECT_EQ(names(*profile.result()), Names{"ProfilerStep#1"});
  scopeCalled("of the thread's own");
  EXPECT_EQ(names(*disableProfiler()), (Names{"both", "ProfilerStep#1", "of the thread's own"}));
}

TEST(AProfile, MarksNoStepThatItDoesNotRecord) {
  enableProfiler(kineto(), kCpu);
  Profile profile(scheduled(byText("NWS")));
  runSteps(profile, 4);
  EXPECT_EQ(names(*disableProfiler()), (Names{"work 0", "work 1", "ProfilerStep#2", "work 2", "work 3"}));
}

TEST(AProfile, IsNotEndedByDisableProfiler) {
  for (const bool all : {true, false}) {
    ProfileOptions options;
    options.all_threads = all;
    Profile profile(std::move(options));
    profile.start();
    expectWords(refusal([] { disableProfiler(); }), {"belongs to a Profile"});
    scopeCalled("still on");
    profile.stop();
    EXPECT_EQ(names(*profile.result()), Names{"still on"});
  }
  expectUsable();
}

TEST(AProfile, RefusesASecondOneForAllThreadsAndSaysWhoIsThere) {
  Profile first;
  Profile second;
  first.start();
  expectWords(refusal([&] { second.start(); }), {"already enabled for all threads", "a Profile"});
  EXPECT_FALSE(second.running());
  first.stop();
  second.start();
  scopeCalled("now");
  second.stop();
  EXPECT_EQ(names(*second.result()), Names{"now"});
}

TEST(AProfile, MayBeSteppedAndStoppedByAnotherThread) {
  Profile profile(scheduled(byText("RRS")));
  profile.start();
  std::thread([&] { profile.step(); }).join();
  std::thread([&] { profile.step(); }).join();
  profile.stop();
  EXPECT_EQ(names(*profile.result()), (Names{"ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"}));
  for (const KinetoEvent& each : profile.events()) EXPECT_TRUE(each.isFinished()) << each.name();
}

TEST(AProfile, OfOneThreadRefusesToBeSteeredByAnother) {
  ProfileOptions options = scheduled(byText("RS"));
  options.all_threads = false;
  Profile profile(std::move(options));
  profile.start();
  std::thread([&] {
    expectWords(refusal([&] { profile.step(); }), {"Profile::step()", "another thread", "all_threads"});
    expectWords(refusal([&] { profile.stop(); }), {"Profile::stop()", "another thread", "all_threads"});
  }).join();
  EXPECT_EQ(profile.stepNumber(), 0);
  profile.step();
  profile.stop();
  EXPECT_EQ(names(*profile.result()), (Names{"ProfilerStep#0", "ProfilerStep#1"}));
}

TEST(AProfile, OfOneThreadCanBeDestroyedByAnother) {
  const Warnings warnings;
  Names recorded;
  ProfileOptions options = scheduled(nullptr, [&](Profile& ready) { recorded = names(*ready.result()); });
  options.all_threads = false;
  auto profile = std::make_unique<Profile>(std::move(options));
  profile->start();
  scopeCalled("recorded");
  std::thread([&] { profile.reset(); }).join();
  EXPECT_EQ(recorded, Names{"recorded"});
  EXPECT_EQ(warnings.count(), 0u);
  expectUsable();
}

TEST(AProfile, RefusesCallsAtTheWrongTime) {
  const Warnings warnings;
  Profile profile(scheduled(byText("S")));
  expectWords(refusal([&] { profile.stop(); }), {"Profile::stop()", "does not run", "start()"});
  expectWords(refusal([&] { profile.result(); }), {"no cycle", "yet"});
  expectWords(refusal([&] { profile.save("trace.json"); }), {"no cycle", "yet"});
  EXPECT_TRUE(profile.results().empty());
  EXPECT_TRUE(profile.events().empty());
  profile.start();
  expectWords(refusal([&] { profile.start(); }), {"Profile::start()", "runs already", "stop()"});
  profile.stop();
  expectWords(refusal([&] { profile.stop(); }), {"does not run"});
  EXPECT_EQ(warnings.count(), 0u);
}

TEST(AProfile, ThatDoesNotRunStepsNowhereAndSaysSoOnce) {
  const Warnings warnings;
  Profile profile(scheduled(byText("NS")));
  profile.step();
  profile.step();
  EXPECT_EQ(profile.stepNumber(), 0);
  EXPECT_FALSE(profilerEnabled());
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"Profile::step()", "does not run", "start()"});
}

TEST(AProfile, RefusesAtItsStartWhatALaterCycleCouldNotHave) {
  ProfileOptions options = scheduled(schedule(10, 1, 1));
  options.activities = {ActivityType::CPU, ActivityType::XPU};
  expectWords(refusal([&] { Profile(options).start(); }), {"ActivityType::XPU"});
  options.activities = {};
  expectWords(refusal([&] { Profile(options).start(); }), {"No activities"});
  options.activities = kCpu;
  options.experimental_config.record_python_gc_info = true;
  expectWords(refusal([&] { Profile(options).start(); }), {"record_python_gc_info"});
}

TEST(AProfile, OfADeviceThatIsNotThereSaysSoWhenACycleBegins) {
  const NamedBackends none("none");
  const Warnings warnings;
  ProfileOptions options = scheduled(byText("S"));
  options.activities = {ActivityType::CUDA};
  Profile at_once(options);
  expectWords(refusal([&] { at_once.start(); }), {"XSIGMA_PROFILER_BACKENDS=none"});
  EXPECT_FALSE(at_once.running());
  EXPECT_EQ(warnings.count(), 0u);
  options.schedule = byText("NWSN");
  Profile later(options);
  runSteps(later, 4);  // the program goes on
  EXPECT_TRUE(later.results().empty());
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"could not start at step 2", "left out", "XSIGMA_PROFILER_BACKENDS=none"});
}

TEST(AProfile, MakesNoStepIfTheScheduleThrows) {
  bool broken = false;
  Profile profile(scheduled([&](int64_t) {
    if (broken) throw std::runtime_error("no plan");
    return ProfilerAction::RECORD;
  }));
  profile.start();
  broken = true;
  EXPECT_THROW(profile.step(), std::runtime_error);
  broken = false;
  scopeCalled("work");
  profile.stop();
  EXPECT_EQ(drawn(profile.result()->event_tree()), "ProfilerStep#0(work)");
}

TEST(AProfile, RefusesAnActionThatIsNone) {
  Profile profile(scheduled([](int64_t step) { return static_cast<ProfilerAction>(step + 3); }));
  profile.start();
  expectWords(refusal([&] { profile.step(); }), {"4", "step 1", "no ProfilerAction"});
  profile.stop();
  EXPECT_EQ(names(*profile.result()), Names{"ProfilerStep#0"});
}

TEST(AScopedProfile, RunsAsLongAsItLives) {
  Names recorded;
  scopeCalled("before");
  {
    ScopedProfile profile(scheduled(byText("WS"), [&](Profile& ready) { recorded = names(*ready.result()); }));
    EXPECT_TRUE(profile->running());
    profile->step();
    scopeCalled("inside");
  }
  scopeCalled("after");
  EXPECT_EQ(recorded, (Names{"ProfilerStep#1", "inside"}));
  EXPECT_FALSE(profilerEnabled());
}

TEST(AScopedProfile, EndsWithItsTraceWhenAnExceptionPasses) {
  Names recorded;
  try {
    const ScopedProfile profile(scheduled(nullptr, [&](Profile& ready) { recorded = names(*ready.result()); }));
    scopeCalled("risky");
    throw std::runtime_error("gone wrong");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(recorded, Names{"risky"});
  expectUsable();
}

// In a child, the profile is idle; the parent's goes on as if nothing had been.
TEST(AForkedChild, LeavesTheProfileToItsParent) {
  const Folder folder;
  size_t ready = 0;
  ProfileOptions options = scheduled(byText("RS"), [&](Profile& each) {
    ++ready;
    each.exportChromeTrace(folder / ("trace_" + std::to_string(getpid()) + ".json"));
  });
  options.experimental_config.capture.path = folder / "run.xst";
  Profile profile(std::move(options));
  ProfilerGuard guard(kineto(), kCpu, folder / "guard.json");
  profile.start();
  scopeCalled("before");
  const pid_t child = fork();
  if (child == 0) {
    const Warnings warnings;
    bool fine = !profile.running() && !guard.active() && profile.currentAction() == ProfilerAction::NONE;
    profile.step();
    fine &= warnings.count() == 1 && warnings.all()[0].find("forked") != std::string::npos;
    scopeCalled("of the child");
    guard.~ProfilerGuard();
    fine &= ready == 0 && folder.files() == Names{"run.xst"};
    Profile own;
    own.start();
    scopeCalled("recorded in the child");
    own.stop();
    fine &= names(*own.result()) == Names{"recorded in the child"};
    _exit(fine ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  profile.step();
  scopeCalled("after");
  profile.stop();
  EXPECT_EQ(ready, 1u);
  EXPECT_EQ(names(*profile.result()), (Names{"ProfilerStep#0", "before", "ProfilerStep#1", "after"}));
  EXPECT_EQ(openCapture(folder / "run.xst").value().ledger().recorded, 4u);
  guard.stop();
  EXPECT_EQ(folder.files(), (Names{"guard.json", "run.xst", "trace_" + std::to_string(getpid()) + ".json"}));
}

TEST(AForkedChild, MayGoThroughALoopThatItInherited) {
  Profile profile(scheduled(byText("SSS")));
  profile.start();
  const pid_t child = fork();
  if (child == 0) {
    const Warnings warnings;
    for (int i = 0; i < 3; ++i) profile.step();
    profile.stop();
    profile.stop();
    bool fine = warnings.count() == 1 && warnings.all()[0].find("forked") != std::string::npos;
    profile.start();
    profile.stop();
    try {
      profile.stop();  // its own by now
      fine = false;
    } catch (const ProfilerError&) {
    }
    _exit(fine && warnings.count() == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  profile.stop();
}

TEST(AForkedChild, MayDestroyAndStopAndRestartItsCopy) {
  auto profile = std::make_unique<Profile>(scheduled(byText("SSS")));
  profile->start();
  for (const char how : {'d', 's', 'r'}) {
    const pid_t child = fork();
    if (child == 0) {
      const Warnings warnings;
      bool fine = true;
      if (how == 'd') profile.reset();
      if (how == 's') profile->stop();
      if (how == 'r') {
        profile->start();
        scopeCalled("a run of the child's own");
        profile->stop();
        fine = names(*profile->result()) == Names{"ProfilerStep#0", "a run of the child's own"};
      }
      fine &= warnings.count() == (how == 's' ? 1u : 0u) && !profilerEnabled();
      _exit(fine ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << how;
  }
  profile->stop();
  EXPECT_EQ(names(*profile->result()), Names{"ProfilerStep#0"});
}

}  // namespace
}  // namespace xsigma::profiler
