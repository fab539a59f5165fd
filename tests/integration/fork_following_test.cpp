// With follow_fork every child that records has a capture of its own beside the parent's.
#include <gtest/gtest.h>

#include <thread>

#include "capture_reading.h"
#include "child_process.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

void runScopes(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    XSIGMA_PROFILE_SCOPE("follow.step");
  }
}

std::string pathOfChild(const std::string& path, pid_t child) {
  return path.substr(0, path.size() - 4) + "." + std::to_string(child) + ".xst";
}

TEST(FollowFork, TheChildsCaptureHasExactlyItsScopes) {
  const TemporaryFile file("follow.xst");
  Recording recording = record({.path = file.path, .follow_fork = true});
  runScopes(3);
  // One child leaves by exit, with its handlers; one as if killed.
  const pid_t orderly = forkChild([]() -> int {
    runScopes(5);
    std::thread other([] { runScopes(6); });
    other.join();
    exit(0);
  });
  EXPECT_EQ(waitFor(orderly), 0);
  const pid_t killed = forkChild([]() -> int {
    runScopes(7);
    raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(waitFor(killed), 128 + SIGKILL);
  const pid_t silent = forkChild([] { return 0; });
  EXPECT_EQ(waitFor(silent), 0);
  runScopes(4);
  recording.stop();

  EXPECT_EQ(openCapture(file.path)->ledger().recorded, 7u);
  const Expected<Capture> first = openCapture(pathOfChild(file.path, orderly));
  ASSERT_TRUE(first.ok()) << first.message();
  EXPECT_TRUE(first->info().closed);
  EXPECT_TRUE(first->damages().empty());
  EXPECT_EQ(first->info().process_id, orderly);
  EXPECT_EQ(first->ledger().recorded, 11u);
  EXPECT_EQ(first->ledger().threads.size(), 2u);
  EXPECT_EQ(countRecords(*first, RecordKind::scope_end, "follow.step"), 11u);
  const Expected<Capture> second = openCapture(pathOfChild(file.path, killed));
  ASSERT_TRUE(second.ok()) << second.message();
  EXPECT_FALSE(second->info().closed);
  EXPECT_EQ(second->ledger().recorded, 7u);
  EXPECT_NE(access(pathOfChild(file.path, silent).c_str(), F_OK), 0) << "a child that records nothing leaves no file";
  unlink(pathOfChild(file.path, orderly).c_str());
  unlink(pathOfChild(file.path, killed).c_str());
}

TEST(FollowFork, GoesOnInGrandchildren) {
  const TemporaryFile file("generations.xst");
  const Shared<pid_t> grandchild;
  Recording recording = record({.path = file.path, .follow_fork = true});
  const pid_t child = forkChild([&]() -> int {
    runScopes(1);
    *grandchild = forkChild([]() -> int {
      runScopes(2);
      exit(0);
    });
    const int status = waitFor(*grandchild);
    runScopes(1);
    exit(status);
  });
  EXPECT_EQ(waitFor(child), 0);
  recording.stop();
  const std::string childs = pathOfChild(file.path, child);
  const std::string grandchilds = pathOfChild(file.path, *grandchild);
  ASSERT_TRUE(openCapture(childs).ok());
  EXPECT_EQ(openCapture(childs)->ledger().recorded, 2u);
  ASSERT_TRUE(openCapture(grandchilds).ok()) << openCapture(grandchilds).message();
  EXPECT_EQ(openCapture(grandchilds)->ledger().recorded, 2u);
  unlink(childs.c_str());
  unlink(grandchilds.c_str());
}

TEST(FollowFork, EndsWithTheRecordingThatAskedForIt) {
  const TemporaryFile file("ended.xst");
  record({.path = file.path, .follow_fork = true}).stop();
  const pid_t child = forkChild([] {
    runScopes(1);
    return 0;
  });
  EXPECT_EQ(waitFor(child), 0);
  EXPECT_NE(access(pathOfChild(file.path, child).c_str(), F_OK), 0);
}

TEST(FollowFork, AChildForkedInsideAScopeDoesNotEndWhatItNeverSawBegin) {
  const TemporaryFile file("inside.xst");
  Recording recording = record({.path = file.path, .follow_fork = true});
  pid_t child = 0;
  {
    XSIGMA_PROFILE_SCOPE("follow.around");
    child = fork();
  }
  if (child == 0) {
    runScopes(2);
    exit(0);
  }
  EXPECT_EQ(waitFor(child), 0);
  EXPECT_EQ(recording.stop().ledger().recorded, 1u);
  const Expected<Capture> capture = openCapture(pathOfChild(file.path, child));
  ASSERT_TRUE(capture.ok()) << capture.message();
  EXPECT_EQ(capture->ledger().attempted, 2u);
  EXPECT_EQ(countRecords(*capture, RecordKind::scope_end, "follow.around"), 0u);
  unlink(pathOfChild(file.path, child).c_str());
}

}  // namespace
}  // namespace xsigma::profiler::test
