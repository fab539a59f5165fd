// ProfilerGuard: enabling and disabling as one object.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "../parsed_json.h"
#include "../profiled.h"
#include "../warnings.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;

TEST(AGuard, SavesWhatAllThreadsDidWhenItGoes) {
  const Folder folder;
  {
    const ProfilerGuard guard(folder / "trace.json");
    EXPECT_TRUE(guard.active());
    std::thread([] { scopeCalled("thread"); }).join();
    EXPECT_EQ(folder.files(), Names{});
  }
  EXPECT_FALSE(profilerEnabled());
  EXPECT_EQ(parsed::traceEvents(parsed::jsonFile(folder / "trace.json"), "thread", "X").size(), 1u);
}

TEST(AGuard, GivesItsResultOnce) {
  const Folder folder;
  ProfilerGuard guard(kineto(), kCpu);
  scopeCalled("a");
  std::thread([] { scopeCalled("not joined"); }).join();
  EXPECT_EQ(names(*guard.stop()), Names{"a"});
  EXPECT_FALSE(guard.active());
  expectWords(refusal([&] { guard.stop(); }), {"ProfilerGuard::stop()", "over"});
  expectUsable();
}

TEST(AGuard, IsNotEndedByDisableProfilerNorEndsAnotherSession) {
  enableProfiler(kineto(), kCpu);
  {
    const ProfilerGuard guard(allThreads(), kCpu);
    scopeCalled("both");
  }
  scopeCalled("own");
  EXPECT_EQ(names(*disableProfiler()), (Names{"both", "own"}));
  const ProfilerGuard guard(kineto(), kCpu);
  expectWords(refusal([] { disableProfiler(); }), {"belongs to a ProfilerGuard"});
}

TEST(AGuard, ThatCannotSaveWarnsAndTheResultIsThere) {
  const Warnings warnings;
  { const ProfilerGuard guard("/no/such/folder/trace.json"); }
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"ProfilerGuard", "/no/such/folder/trace.json"});
  ProfilerGuard guard("/no/such/folder/trace.json");
  scopeCalled("kept");
  EXPECT_EQ(names(*guard.stop()), Names{"kept"});
  EXPECT_EQ(warnings.count(), 2u);
}

TEST(AGuard, ThatCannotStartThrows) {
  const ProfilerGuard guard(allThreads(), kCpu);
  expectWords(refusal([] { const ProfilerGuard second("trace.json"); }), {"already enabled for all threads", "a ProfilerGuard"});
}

}  // namespace
}  // namespace xsigma::profiler
