// A forked child starts clean: the parent's recordings are not its own, and it may have some itself.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "capture_reading.h"
#include "child_process.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

void runScopes(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    XSIGMA_PROFILE_SCOPE("fork.step");
  }
}

TEST(Fork, TheChildsScopesDoNotReachTheParentsFile) {
  const TemporaryFile file("parent.xst");
  Recording recording = record({.path = file.path});
  runScopes(3);
  const int outcome = runInChild([&] {
    runScopes(100'000);
    const Capture mine = recording.stop();  // the parent's, not ours to stop
    const Ledger ledger = mine.ledger();
    return ledger.attempted == 0 && ledger.threads.empty() && !mine.info().closed ? 0 : 1;
  });
  EXPECT_EQ(outcome, 0) << "what the child gets from stop() is empty";
  runScopes(4);
  EXPECT_EQ(recording.stop().ledger().attempted, 7u);
  const Expected<Capture> capture = openCapture(file.path);
  ASSERT_TRUE(capture.ok()) << capture.message();
  EXPECT_TRUE(capture->damages().empty());
  EXPECT_TRUE(capture->info().closed);
  EXPECT_EQ(capture->ledger().recorded, 7u);
}

TEST(Fork, TheChildMayDestroyTheParentsRecordingAndStartItsOwn) {
  const TemporaryFile parents("parents.xst");
  const TemporaryFile childs("childs.xst");
  auto recording = std::make_unique<Recording>(record({.path = parents.path}));
  runScopes(1);
  const int outcome = runInChild([&] {
    recording.reset();
    Recording own = record({.path = childs.path});
    runScopes(20'000);
    std::thread other([] { runScopes(5000); });
    other.join();
    return own.stop().ledger().recorded == 25'000 ? 0 : 1;
  });
  EXPECT_EQ(outcome, 0);
  runScopes(1);
  EXPECT_EQ(recording->stop().ledger().recorded, 2u);
  EXPECT_EQ(openCapture(parents.path)->ledger().recorded, 2u);
  const Expected<Capture> child = openCapture(childs.path);
  ASSERT_TRUE(child.ok()) << child.message();
  EXPECT_EQ(child->ledger().recorded, 25'000u);
  EXPECT_NE(child->info().process_id, getpid());
  EXPECT_EQ(child->ledger().threads.size(), 2u);
}

TEST(Fork, WhateverAThreadOfTheParentDoesWithARecordingTheChildMayStopIt) {
  Recording recording = record();
  runScopes(1000);
  std::atomic<bool> enough{false};
  std::thread reader([&] {
    while (!enough) EXPECT_EQ(recording.snapshot().ledger().recorded, 1000u);
  });
  for (int i = 0; i < 50 && !testing::Test::HasFailure(); ++i) {
    EXPECT_EQ(runInChild([&] { return recording.snapshot().ledger().attempted + recording.stop().ledger().attempted == 0 ? 0 : 1; }, 5), 0)
        << "child " << i;
  }
  enough = true;
  reader.join();
  EXPECT_EQ(recording.stop().ledger().recorded, 1000u);
}

TEST(Fork, InsideAScopeTheEndIsTheParentsAlone) {
  Recording recording = record();
  int outcome = -1;
  {
    XSIGMA_PROFILE_SCOPE("fork.around");
    outcome = runInChild([] {
      Recording own = record();
      runScopes(1);
      return own.stop().ledger().recorded == 1 ? 0 : 1;
    });
  }
  EXPECT_EQ(outcome, 0);
  const Ledger ledger = recording.stop().ledger();
  EXPECT_EQ(ledger.recorded, 1u);
  EXPECT_EQ(ledger.unfinished, 0u);
}

TEST(Fork, AScopeThatTheChildLeavesIsNotEndedInItsOwnRecording) {
  Recording recording = record();
  const int outcome = runInChild([&] {
    std::optional<Recording> own;
    {
      XSIGMA_PROFILE_SCOPE("fork.left_in_child");
      const pid_t grandchild = fork();
      if (grandchild != 0) return waitFor(grandchild);
      own.emplace(record());
    }
    const Capture capture = own->stop();
    _exit(countRecords(capture, RecordKind::scope_end) == 0 && capture.ledger().attempted == 0 ? 0 : 1);
  });
  EXPECT_EQ(outcome, 0);
  recording.stop();
}

TEST(Fork, WhileThreadsRecordNeverHangs) {
  constexpr int kForks = kSanitized ? 50 : 200;
  const TemporaryFile file("storm.xst");
  Recording recording = record({.policy = CapturePolicy::ring, .byte_cap = 1 << 20, .path = file.path});
  std::atomic<bool> done{false};
  std::atomic<uint64_t> scopes{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      uint64_t own = 0;
      for (; !done.load(std::memory_order_relaxed); ++own) {
        runScopes(1);
        if (own % 64 == 0) {
          const std::string name = "fork.dynamic." + std::to_string(own % 1024);
          XSIGMA_PROFILE_SCOPE_DYNAMIC(name);
          ++scopes;
        }
      }
      scopes += own;
    });
  }
  int failed = 0;
  for (int i = 0; i < kForks; ++i) {
    failed += runInChild([] {
      Recording own = record({.byte_cap = 1 << 20});
      runScopes(10);
      XSIGMA_PROFILE_SCOPE_DYNAMIC("fork.in_child");
      return own.stop().ledger().attempted == 11 ? 0 : 1;
    }, 20) != 0;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0) << "of " << kForks;
  const Capture capture = recording.stop();
  EXPECT_TRUE(capture.damages().empty());
  const Ledger ledger = capture.ledger();
  expectLedgerAddsUp(ledger);
  EXPECT_EQ(ledger.attempted, scopes.load());
}

TEST(Fork, FromSeveralThreadsAtOnceNeverHangs) {
  constexpr int kForks = kSanitized ? 20 : 100;
  Recording recording = record({.policy = CapturePolicy::ring, .byte_cap = 1 << 20});
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < kForks; ++n) {
        if (i != 0) runScopes(10);  // one of them never records
        failed += runInChild([] {
          runScopes(10);
          return 0;
        }, 20) != 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
  const Ledger ledger = recording.stop().ledger();
  EXPECT_EQ(ledger.attempted, 2u * kForks * 10);
}

}  // namespace
}  // namespace xsigma::profiler::test
