// Who is recorded: the thread that enabled, those that joined, or all of them; and what of it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

#include "../profiled.h"
#include "../recorded.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;

template <typename Body>
void onThread(Body body) {
  std::thread(body).join();
}

TEST(ASession, RecordsTheThreadThatEnabledItAndNoOther) {
  enableProfiler(kineto(), kCpu);
  scopeCalled("mine");
  onThread([] {
    scopeCalled("another's");
    XSIGMA_RECORD_FUNCTION("another's function", {1});
    recordInstant("another's mark");
  });
  recordInstant("my mark");
  const auto result = disableProfiler();
  EXPECT_EQ(names(*result), (Names{"mine", "my mark"}));
  EXPECT_EQ(result->ledger().attempted, 1u);
}

TEST(ASession, RecordsThreadsFromJoiningToLeaving) {
  enableProfiler(kineto(), kCpu);
  onThread([] {
    scopeCalled("before joining");
    enableProfilerInChildThread();
    scopeCalled("joined");
    disableProfilerInChildThread();
    scopeCalled("after leaving");
    enableProfilerInChildThread();
    scopeCalled("joined again");
    disableProfilerInChildThread();
  });
  EXPECT_EQ(names(*disableProfiler()), (Names{"joined", "joined again"}));
}

TEST(ASession, GivesAScopeThatIsOpenWhenItsThreadLeavesItsEnd) {
  enableProfiler(kineto(), kCpu);
  onThread([] {
    enableProfilerInChildThread();
    XSIGMA_PROFILE_SCOPE("open");
    disableProfilerInChildThread();
    scopeCalled("after leaving");
  });
  const auto result = disableProfiler();
  EXPECT_EQ(names(*result), Names{"open"});
  EXPECT_TRUE(event(*result, "open").isFinished());
}

TEST(ASession, OfAllThreadsRecordsThemWithoutJoining) {
  enableProfiler(allThreads(), kCpu);
  scopeCalled("mine");
  onThread([] {
    scopeCalled("another's");
    enableProfilerInChildThread();
    scopeCalled("joined");
    disableProfilerInChildThread();
    scopeCalled("after leaving");
  });
  EXPECT_EQ(names(*disableProfiler()), (Names{"mine", "another's", "joined", "after leaving"}));
}

TEST(ASession, OfAllThreadsMayBeEndedByAny) {
  enableProfiler(allThreads(), kCpu);
  scopeCalled("a");
  onThread([] { EXPECT_EQ(names(*disableProfiler()), Names{"a"}); });
  EXPECT_FALSE(profilerEnabled());
  expectUsable();
}

TEST(ASession, OnDemandRecordsAllThreads) {
  enableProfiler(ProfilerConfig(ProfilerState::KINETO_ONDEMAND), kCpu);
  onThread([] { scopeCalled("another's"); });
  EXPECT_EQ(names(*disableProfiler()), Names{"another's"});
}

TEST(Joining, OnAThreadThatRecordsAlreadyIsCountedAndDoesNothingElse) {
  enableProfiler(kineto(), kCpu);
  enableProfilerInChildThread();
  enableProfilerInChildThread();
  scopeCalled("once");
  disableProfilerInChildThread();
  disableProfilerInChildThread();
  scopeCalled("still the session's own thread");
  expectWords(refusal([] { disableProfilerInChildThread(); }), {"not running in this thread"});
  EXPECT_EQ(names(*disableProfiler()), (Names{"once", "still the session's own thread"}));
}

TEST(Joining, TwiceNeedsLeavingTwice) {
  enableProfiler(kineto(), kCpu);
  onThread([] {
    enableProfilerInChildThread();
    enableProfilerInChildThread();
    disableProfilerInChildThread();
    scopeCalled("left once");
    disableProfilerInChildThread();
    scopeCalled("left twice");
  });
  EXPECT_EQ(names(*disableProfiler()), Names{"left once"});
}

TEST(Joining, MakesTheSessionTheChildsOwnAsSeenFromThere) {
  enableProfiler(ProfilerConfig(ProfilerState::KINETO, false, false, false, false, false, {}, "of the parent"), kCpu);
  onThread([] {
    EXPECT_FALSE(profilerEnabled());
    enableProfilerInChildThread();
    EXPECT_EQ(getProfilerConfig().trace_id, "of the parent");
    disableProfilerInChildThread();
    EXPECT_FALSE(profilerEnabled());
  });
  disableProfiler();
}

TEST(AChildThatNeverLeaves, IsHarmless) {
  std::promise<void> joined;
  std::promise<void> over;
  std::promise<void> second;
  enableProfiler(kineto(), kCpu);
  std::thread child([&] {
    enableProfilerInChildThread();
    scopeCalled("child");
    joined.set_value();
    over.get_future().wait();
    scopeCalled("child after the end");
    second.get_future().wait();
    scopeCalled("child in the second session, which it did not join");
  });
  joined.get_future().wait();
  const auto first_result = disableProfiler();
  over.set_value();
  enableProfiler(kineto(), kCpu);
  second.set_value();
  child.join();
  scopeCalled("second");
  EXPECT_EQ(names(*first_result), Names{"child"});
  EXPECT_EQ(names(*disableProfiler()), Names{"second"});
}

TEST(AChildThatNeverLeft, CanJoinTheNextSession) {
  std::promise<void> joined;
  std::promise<void> next;
  enableProfiler(kineto(), kCpu);
  std::thread child([&] {
    enableProfilerInChildThread();
    joined.set_value();
    next.get_future().wait();
    enableProfilerInChildThread();
    scopeCalled("in the second");
    disableProfilerInChildThread();
    scopeCalled("after leaving");
  });
  joined.get_future().wait();
  EXPECT_EQ(names(*disableProfiler()), Names{});
  enableProfiler(kineto(), kCpu);
  next.set_value();
  child.join();
  EXPECT_EQ(names(*disableProfiler()), Names{"in the second"});
}

TEST(AChildThatNeverLeft, CanBeProfiledByItself) {
  std::promise<void> joined;
  std::promise<void> over;
  enableProfiler(kineto(), kCpu);
  std::thread child([&] {
    enableProfilerInChildThread();
    joined.set_value();
    over.get_future().wait();
    expectWords(refusal([] { disableProfiler(); }), {"not running"});
    EXPECT_FALSE(profilerEnabled());
    expectWords(refusal([] { toggleCollectionDynamic(false, kCpu); }), {"no profiler is on"});
    enableProfiler(kineto(), kCpu);
    scopeCalled("its own");
    EXPECT_EQ(names(*disableProfiler()), Names{"its own"});
  });
  joined.get_future().wait();
  disableProfiler();
  over.set_value();
  child.join();
}

TEST(AChildThatNeverLeft, MayLeaveAfterTheEnd) {
  std::promise<void> joined;
  std::promise<void> over;
  enableProfiler(kineto(), kCpu);
  std::thread child([&] {
    enableProfilerInChildThread();
    joined.set_value();
    over.get_future().wait();
    disableProfilerInChildThread();
    EXPECT_FALSE(profilerEnabled());
    expectUsable();
  });
  joined.get_future().wait();
  disableProfiler();
  over.set_value();
  child.join();
}

TEST(SessionsOnTwoThreads, AtOnceHaveTheirOwnEvents) {
  std::promise<void> second_on;
  std::promise<void> first_done;
  enableProfiler(kineto(), kCpu);
  std::thread other([&] {
    enableProfiler(kineto(), kCpu);
    second_on.set_value();
    scopeCalled("second's");
    first_done.get_future().wait();
    scopeCalled("second's, after the first ended");
    EXPECT_EQ(names(*disableProfiler()), (Names{"second's", "second's, after the first ended"}));
  });
  second_on.get_future().wait();
  scopeCalled("first's");
  EXPECT_EQ(names(*disableProfiler()), Names{"first's"});
  first_done.set_value();
  other.join();
}

TEST(SessionsOnTwoThreads, TheOneThatGoesOnCanStillBeJoinedWhenTheOtherEnds) {
  enableProfiler(kineto(), kCpu);
  onThread([] {
    enableProfiler(kineto(), kCpu);
    disableProfiler();
  });
  EXPECT_TRUE(isProfilerEnabledInMainThread());
  onThread([] {
    enableProfilerInChildThread();
    scopeCalled("child of the first");
    disableProfilerInChildThread();
  });
  EXPECT_EQ(names(*disableProfiler()), Names{"child of the first"});
  EXPECT_FALSE(isProfilerEnabledInMainThread());
}

TEST(SessionsSideBySide, OneOfTheThreadAndOneOfAllEachHaveTheirOwn) {
  enableProfiler(allThreads(), kCpu);
  enableProfiler(kineto(), kCpu);
  scopeCalled("both");
  onThread([] { scopeCalled("all"); });
  const auto own = disableProfiler();
  scopeCalled("after the first");
  const auto everyones = disableProfiler();
  EXPECT_EQ(names(*own), Names{"both"});
  EXPECT_EQ(names(*everyones), (Names{"both", "all", "after the first"}));
}

TEST(ASessionBesideARecording, HasItsOwnThreadTheRecordingHasAll) {
  Recording recording = startRecording().value();
  scopeCalled("before");
  enableProfiler(kineto(), kCpu);
  scopeCalled("both");
  onThread([] { scopeCalled("another's"); });
  const auto result = disableProfiler();
  scopeCalled("after");
  EXPECT_EQ(names(*result), Names{"both"});
  EXPECT_EQ(recorded::names(recording.stop()), (Names{"before", "both", "after", "another's"}));
}

void oneOfEachKind() {
  XSIGMA_PROFILE_FUNCTION();
  XSIGMA_PROFILE_SCOPE("user scope");
  XSIGMA_RECORD_FUNCTION("function", {});
  XSIGMA_RECORD_FUNCTION_WITH_SCOPE(RecordScope::BACKWARD_FUNCTION, "backward", {});
  XSIGMA_RECORD_FUNCTION_WITH_SCOPE(RecordScope::CUSTOM_CLASS, "class", {});
  XSIGMA_RECORD_USER_SCOPE("user function");
}

TEST(ScopesAskedFor, AreTheOnlyOnesRecorded) {
  const Names all{"oneOfEachKind", "user scope", "function", "backward", "class", "user function"};
  EXPECT_EQ(names(*profile(oneOfEachKind)), all);
  EXPECT_EQ(names(*profile(oneOfEachKind, kineto(), {RecordScope::FUNCTION})), (Names{"oneOfEachKind", "function"}));
  EXPECT_EQ(names(*profile(oneOfEachKind, kineto(), {RecordScope::USER_SCOPE})), (Names{"user scope", "user function"}));
  EXPECT_EQ(names(*profile(oneOfEachKind, kineto(), {RecordScope::BACKWARD_FUNCTION, RecordScope::CUSTOM_CLASS})),
            (Names{"backward", "class"}));
  EXPECT_EQ(names(*profile(oneOfEachKind, kineto(), {RecordScope::LITE_INTERPRETER})), Names{});
}

TEST(ScopesAskedFor, HoldForThoseThatJoinAndForNobodyElse) {
  Recording recording = startRecording().value();
  enableProfiler(kineto(), kCpu, {RecordScope::CUSTOM_CLASS});
  onThread([] {
    enableProfilerInChildThread();
    oneOfEachKind();
    disableProfilerInChildThread();
  });
  EXPECT_EQ(names(*disableProfiler()), Names{"class"});
  EXPECT_EQ(recorded::names(recording.stop()).size(), 6u);
}

TEST(ScopesAskedFor, NestWithoutTheOthers) {
  const auto result = profile(
      [] {
        XSIGMA_PROFILE_SCOPE("outer");
        XSIGMA_RECORD_FUNCTION("between", {});
        XSIGMA_PROFILE_SCOPE("inner");
      },
      kineto(), {RecordScope::USER_SCOPE});
  EXPECT_EQ(drawn(result->event_tree()), "outer(inner)");
}

TEST(TheSwitchOfTheThread, SilencesASession) {
  const auto result = profile([] {
    scopeCalled("a");
    const DisableRecordFunctionGuard off;
    scopeCalled("silent");
  });
  EXPECT_EQ(names(*result), Names{"a"});
}

TEST(AChildThread, StaysInItsSessionWhenAnotherOneBegins) {
  enableProfiler(kineto(), kCpu);
  std::unique_ptr<ProfilerResult> second;
  onThread([&] {
    enableProfilerInChildThread();
    onThread([&] {
      enableProfiler(kineto(), kCpu);
      scopeCalled("of the second");
      second = disableProfiler();
    });
    std::thread other([] { enableProfiler(kineto(), kCpu); });  // ends without disabling: its session goes with it
    other.join();
    enableProfilerInChildThread();  // once more, while it is in the first
    scopeCalled("of the first");
    EXPECT_THROW(disableProfiler(), ProfilerError) << "it is not this thread's to end";
    disableProfilerInChildThread();
    disableProfilerInChildThread();
    scopeCalled("after leaving");
    EXPECT_THROW(disableProfilerInChildThread(), ProfilerError);
  });
  EXPECT_EQ(names(*disableProfiler()), Names{"of the first"});
  EXPECT_EQ(names(*second), Names{"of the second"});
  EXPECT_FALSE(isProfilerEnabledInMainThread());
}

TEST(AForkedChild, HasNoSessionOfItsParent) {
  enableProfiler(kineto(), kCpu);
  const pid_t child = fork();
  if (child == 0) {
    bool clean = !profilerEnabled() && !isProfilerEnabledInMainThread();
    try {
      enableProfiler(kineto(), kCpu);
      scopeCalled("of the child");
      clean &= names(*disableProfiler()) == Names{"of the child"};
    } catch (const ProfilerError&) {
      clean = false;
    }
    _exit(clean ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  scopeCalled("of the parent");
  EXPECT_EQ(names(*disableProfiler()), Names{"of the parent"});
}

TEST(ASession, IsNoCallback) {
  enableProfiler(kineto(), kCpu);
  EXPECT_FALSE(hasCallbacks());
  clearCallbacks();
  scopeCalled("a");
  EXPECT_EQ(names(*disableProfiler()), Names{"a"});
}

}  // namespace
}  // namespace xsigma::profiler
