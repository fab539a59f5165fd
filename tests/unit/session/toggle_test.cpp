// Collection switched off and on inside a session, and what is not collected because nobody asked.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "../profiled.h"
#include "../recorded.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;

void off() { toggleCollectionDynamic(false, kCpu); }
void on() { toggleCollectionDynamic(true, kCpu); }

TEST(SwitchedOff, ScopesThatBeginAreAbsent) {
  const auto result = profile([] {
    scopeCalled("before");
    off();
    scopeCalled("while off");
    XSIGMA_RECORD_FUNCTION("function while off", {1}, 7);
    recordInstant("mark while off");
    on();
    scopeCalled("after");
  });
  EXPECT_EQ(names(*result), (Names{"before", "after"}));
  EXPECT_EQ(result->ledger().attempted, 2u) << "what was not to be recorded is no loss";
  EXPECT_EQ(result->ledger().dropped, 0u);
}

TEST(SwitchedOff, AScopeThatIsOpenGetsItsEnd) {
  int64_t ended = 0;
  const auto result = profile([&] {
    {
      XSIGMA_PROFILE_SCOPE("open");
      RecordFunction function;
      function.before("open function");
      off();
      spin(std::chrono::microseconds(100));
    }
    ended = wallNs();
    spin(std::chrono::milliseconds(5));
  });
  for (const char* const name : {"open", "open function"}) {
    const KinetoEvent found = event(*result, name);
    EXPECT_TRUE(found.isFinished()) << name;
    EXPECT_GE(found.durationNs(), 100000) << name;
    EXPECT_LE(found.endNs(), ended + 1000000) << name << " does not last until the end of the session";
  }
  EXPECT_EQ(drawn(result->event_tree()), "open(open function)");
}

TEST(SwitchedOff, AndOnAgainScopesPairAndNest) {
  const auto result = profile([] {
    XSIGMA_PROFILE_SCOPE("around");
    {
      XSIGMA_PROFILE_SCOPE("open when it goes off");
      off();
      {
        XSIGMA_PROFILE_SCOPE("begun while off");
        scopeCalled("inside, while off");
        on();
        scopeCalled("inside, on again");
      }
      scopeCalled("sibling");
    }
    scopeCalled("last");
  });
  EXPECT_EQ(drawn(result->event_tree()), "around(open when it goes off(inside, on again sibling) last)");
  for (const KinetoEvent& each : result->events()) EXPECT_TRUE(each.isFinished()) << each.name();
  EXPECT_EQ(result->ledger().unfinished, 0u);
}

TEST(SwitchedOff, TwiceIsOffAndOnTwiceIsOn) {
  const auto result = profile([] {
    off();
    off();
    scopeCalled("off");
    on();
    scopeCalled("on once");
    on();
    scopeCalled("on twice");
  });
  EXPECT_EQ(names(*result), (Names{"on once", "on twice"}));
}

TEST(SwitchedOff, HoldsForThreadsThatJoined) {
  enableProfiler(kineto(), kCpu);
  std::thread([] {
    enableProfilerInChildThread();
    scopeCalled("child before");
    off();
    scopeCalled("child off");
    disableProfilerInChildThread();
  }).join();
  scopeCalled("parent off");
  on();
  scopeCalled("parent on");
  EXPECT_EQ(names(*disableProfiler()), (Names{"child before", "parent on"}));
}

TEST(SwitchedOff, ASecondSessionIsUnaffected) {
  Recording recording = startRecording().value();
  std::unique_ptr<ProfilerResult> second;
  const auto result = profile([&] {
    off();
    scopeCalled("off here");
    std::thread([&] { second = profile([] { scopeCalled("on there"); }); }).join();
  });
  EXPECT_EQ(names(*result), Names{});
  EXPECT_EQ(names(*second), Names{"on there"});
  EXPECT_EQ(recorded::names(recording.stop()), (Names{"off here", "on there"}));
}

TEST(SwitchedOff, TheNextSessionIsOn) {
  profile([] { off(); });
  expectUsable();
}

TEST(SwitchedOff, KeepsToTheScopesAskedForWhenOnAgain) {
  const auto result = profile(
      [] {
        off();
        on();
        scopeCalled("user scope");
        XSIGMA_RECORD_FUNCTION("function", {});
      },
      kineto(), {RecordScope::FUNCTION});
  EXPECT_EQ(names(*result), Names{"function"});
}

void useMemory() {
  char block[16];
  XSIGMA_PROFILE_SCOPE("allocating");
  reportMemoryUsage(block, 16, 16, 32);
  reportOutOfMemory(1 << 20, 16, 32, {DeviceType::CPU, -1});
  reportMemoryUsage(block, -16, 0, 32);
}

TEST(Memory, IsThereIfAskedFor) {
  ProfilerConfig config = kineto();
  config.profile_memory = true;
  EXPECT_EQ(names(*profile(useMemory, config)), (Names{"allocating", "[memory]", "[OutOfMemory]", "[memory]"}));
}

TEST(Memory, IsNotThereIfNotAskedFor) { EXPECT_EQ(names(*profile(useMemory)), Names{"allocating"}); }

TEST(Memory, IsNotThereWhileCollectionIsOff) {
  ProfilerConfig config = kineto();
  config.profile_memory = true;
  const auto result = profile(
      [] {
        off();
        useMemory();
        on();
        useMemory();
      },
      config);
  EXPECT_EQ(count(*result, "[memory]"), 2u);
  EXPECT_EQ(count(*result, "allocating"), 1u);
}

TEST(Memory, IsThereWhateverTheScopesAskedFor) {
  ProfilerConfig config = kineto();
  config.profile_memory = true;
  EXPECT_EQ(names(*profile(useMemory, config, {RecordScope::FUNCTION})), (Names{"[memory]", "[OutOfMemory]", "[memory]"}));
}

}  // namespace
}  // namespace xsigma::profiler
