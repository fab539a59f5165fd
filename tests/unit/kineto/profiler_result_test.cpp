// ProfilerResult: the tree, the ledger, the files, and asking for them from many threads, partly, or not at all.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "../parsed_json.h"
#include "../profiled.h"
#include "../recorded.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;

void program() {
  XSIGMA_PROFILE_SCOPE("root");
  {
    XSIGMA_PROFILE_SCOPE("first");
    scopeCalled("leaf");
    scopeCalled("leaf");
  }
  recordInstant("mark");
  scopeCalled("second");
}

TEST(TheTree, HasParentsChildrenAndTimes) {
  const auto result = profile([] {
    program();
    scopeCalled("another root");
  });
  EXPECT_EQ(drawn(result->event_tree()), "root(first(leaf leaf) mark second) another root");
  const std::shared_ptr<Result> root = result->event_tree()[0];
  const std::shared_ptr<Result> first = root->children_[0];
  EXPECT_EQ(root->parent_.lock(), nullptr);
  EXPECT_EQ(first->parent_.lock(), root);
  EXPECT_EQ(first->children_[1]->parent_.lock(), first);
  EXPECT_LE(root->start_time_ns_, first->start_time_ns_);
  EXPECT_GE(root->endTimeNS(), first->endTimeNS());
  EXPECT_EQ(first->durationNS(), first->endTimeNS() - first->start_time_ns_);
  EXPECT_EQ(root->tag(), EventType::TorchOp);
  EXPECT_EQ(root->children_[1]->tag(), EventType::Kineto) << "a mark";
  EXPECT_EQ(root->scope(), RecordScope::USER_SCOPE);
  EXPECT_EQ(root->kinetoType(), libkineto::ActivityType::USER_ANNOTATION);
  EXPECT_EQ(root->deviceType(), DeviceType::CPU);
  EXPECT_EQ(root->start_tid_, RecordFunction::currentThreadId());
  EXPECT_EQ(root->endTID(), RecordFunction::currentThreadId());
  EXPECT_TRUE(root->finished_);
  EXPECT_FALSE(root->hidden_);
  EXPECT_EQ(root->correlationID(), event(*result, "root").correlationId());
  EXPECT_EQ(root->overload_name(), "");
}

TEST(TheTree, OfAnEventOutlivesNothingItNeeds) {
  std::shared_ptr<Result> kept;
  {
    const auto result = profile(program);
    kept = result->event_tree()[0];
  }
  EXPECT_EQ(kept->name(), "root");
  EXPECT_EQ(kept->children_.size(), 3u);
  EXPECT_EQ(kept->children_[0]->parent_.lock(), kept);
}

TEST(TheTree, CountsSelfTimeWithoutTheChildren) {
  const auto result = profile([] {
    XSIGMA_PROFILE_SCOPE("root");
    spin(std::chrono::milliseconds(1));
    XSIGMA_PROFILE_SCOPE("child");
    spin(std::chrono::milliseconds(3));
  });
  const std::shared_ptr<Result> root = result->event_tree()[0];
  const std::shared_ptr<Result> child = root->children_.at(0);
  EXPECT_EQ(root->selfTimeNS(), root->durationNS() - child->durationNS());
  EXPECT_EQ(child->selfTimeNS(), child->durationNS());
}

TEST(SelfTime, CountsChildrenThatOverlapOnce) {
  const auto made = [](int64_t start, int64_t end) {
    auto result = std::make_shared<Result>();
    result->start_time_ns_ = start;
    result->end_time_ns_ = end;
    return result;
  };
  const std::shared_ptr<Result> root = made(100, 200);
  EXPECT_EQ(root->selfTimeNS(), 100);
  root->children_ = {made(110, 130), made(120, 140), made(125, 126), made(150, 150), made(190, 250)};
  EXPECT_EQ(root->selfTimeNS(), 100 - 30 - 10) << "110–140, and 190 until the parent's end";
}

// So short and so close that clocks tie: what counts is the order in which they began and ended.
TEST(TheTree, NestsScopesWithoutLength) {
  constexpr size_t kRounds = 5000;
  const auto result = profile([] {
    for (size_t i = 0; i < kRounds; ++i) {
      XSIGMA_PROFILE_SCOPE("a");
      { XSIGMA_PROFILE_SCOPE("b"); }
      {
        XSIGMA_PROFILE_SCOPE("c");
        XSIGMA_PROFILE_SCOPE("d");
      }
    }
  });
  ASSERT_EQ(result->event_tree().size(), kRounds);
  for (const std::shared_ptr<Result>& each : result->event_tree()) ASSERT_EQ(drawn({each}), "a(b c(d))");
}

TEST(TheTree, NestsBackendEventsThatTie) {
  const auto result = profile([] {
    XSIGMA_PROFILE_SCOPE("around");
    spin(std::chrono::milliseconds(1));
    const int64_t now = wallNs() / 1000;
    spin(std::chrono::milliseconds(1));
    reportBackendEventToActiveKinetoProfiler(now, now, -1, RecordScope::FUNCTION, "nothing 1", "NPU");
    reportBackendEventToActiveKinetoProfiler(now, now, -1, RecordScope::FUNCTION, "nothing 2", "NPU");
    reportBackendEventToActiveKinetoProfiler(now, now + 100, -1, RecordScope::FUNCTION, "something", "NPU");
  });
  EXPECT_EQ(node(result->event_tree(), "around")->children_.size(), 3u);
  for (const char* const name : {"nothing 1", "nothing 2", "something"}) EXPECT_EQ(event(*result, name).stack(), Names{"around"}) << name;
}

TEST(Events, AreByStartWithTheirParentsBefore) {
  enableProfiler(allThreads(), kCpu);
  program();
  std::thread(program).join();
  const auto result = disableProfiler();
  const Names once{"root", "first", "leaf", "leaf", "mark", "second"};
  Names twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(names(*result), twice);
}

TEST(TheLedger, CountsWhatWasRecorded) {
  const auto result = profile(program);
  const Ledger ledger = result->ledger();
  EXPECT_EQ(ledger.attempted, 5u);
  EXPECT_EQ(ledger.recorded, 5u);
  EXPECT_EQ(ledger.unfinished, 0u);
  EXPECT_TRUE(ledger.whole());
  ASSERT_EQ(ledger.threads.size(), 1u);
  EXPECT_EQ(ledger.threads[0].recorded, 5u);
}

TEST(TheLedger, CountsWhatFoundNoRoom) {
  ProfilerConfig config = kineto();
  config.experimental_config.capture.policy = CapturePolicy::stop_when_full;
  config.experimental_config.capture.byte_cap = kMinimumByteCap;
  const auto result = profile(
      [] {
        for (int i = 0; i < 100000; ++i) scopeCalled("many");
      },
      config);
  const Ledger ledger = result->ledger();
  EXPECT_EQ(ledger.attempted, 100000u);
  EXPECT_GT(ledger.recorded, 0u);
  EXPECT_EQ(ledger.dropped, ledger.causes[static_cast<size_t>(LossCause::cap_reached)]);
  EXPECT_EQ(ledger.recorded + ledger.dropped, 100000u);
  EXPECT_EQ(result->events().size(), ledger.recorded);
}

TEST(TheCapture, IsThatOfTheSessionAndMayBeAFile) {
  const Folder folder;
  ProfilerConfig config = kineto();
  config.experimental_config.capture.path = folder / "capture.xst";
  const auto result = profile(program, config);
  EXPECT_EQ(result->capture().info().path, folder / "capture.xst");
  EXPECT_EQ(recorded::names(openCapture(folder / "capture.xst").value()), (Names{"root", "first", "leaf", "leaf", "second"}));
  EXPECT_EQ(result->events().size(), 6u);
}

TEST(TheResult, BeginsWhenTheSessionDid) {
  const int64_t before = wallNs();
  enableProfiler(kineto(), kCpu);
  const int64_t after = wallNs();
  spin(std::chrono::milliseconds(5));
  const auto result = disableProfiler();
  EXPECT_GE(result->trace_start_ns(), before - 1000000);
  EXPECT_LE(result->trace_start_ns(), after + 1000000);
}

TEST(TheResult, IsTheSameForAllThreadsThatAsk) {
  const auto result = profile([] {
    for (int i = 0; i < 1000; ++i) program();
  });
  std::vector<const std::vector<KinetoEvent>*> lists(8);
  std::vector<const std::vector<std::shared_ptr<Result>>*> trees(8);
  std::vector<size_t> sizes(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      if (i % 2 == 0) trees[i] = &result->event_tree();
      lists[i] = &result->events();
      sizes[i] = lists[i]->size();
      trees[i] = &result->event_tree();
      EXPECT_TRUE(result->complete());
    });
  }
  for (std::thread& each : threads) each.join();
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(lists[i], lists[0]);
    EXPECT_EQ(trees[i], trees[0]);
    EXPECT_EQ(sizes[i], 6000u);
  }
  EXPECT_EQ(trees[0]->size(), 1000u);
}

TEST(TheResult, IsSavedAgainAndAgainInEveryFormat) {
  const Folder folder;
  const auto result = profile(program);
  for (const char* const name : {"a.json", "a.json", "b.json", "c.json.gz", "d.xst", "e.trace", "f", "g.xst.json"})
    result->save(folder / name);
  EXPECT_EQ(folder.files(), (Names{"a.json", "b.json", "c.json.gz", "d.xst", "e.trace", "f", "g.xst.json"}));
  for (const char* const name : {"a.json", "b.json", "e.trace", "f", "g.xst.json"}) {
    const parsed::Json trace = parsed::jsonFile(folder / name);
    EXPECT_EQ(parsed::traceEvents(trace, "leaf", "X").size(), 2u) << name;
    EXPECT_EQ(parsed::traceEvents(trace, "mark", "i").size(), 1u) << name;
    EXPECT_EQ(trace["xsigmaLedger"]["recorded"].number, 5) << name;
  }
  EXPECT_EQ(contents(folder / "c.json.gz").substr(0, 3), "\x1f\x8b\x08");
  EXPECT_EQ(recorded::names(openCapture(folder / "d.xst").value()), (Names{"root", "first", "leaf", "leaf", "second"}));
  EXPECT_EQ(result->events().size(), 6u) << "saving consumes nothing";
}

TEST(TheResult, IsSavedByManyThreadsAtOnce) {
  const Folder folder;
  const auto result = profile(program);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { result->save(folder / ("t" + std::to_string(i) + ".json")); });
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { result->save(folder / "same.json"); });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(folder.files(), (Names{"same.json", "t0.json", "t1.json", "t2.json", "t3.json"}));
  for (const std::string& name : folder.files()) EXPECT_EQ(parsed::traceEvents(parsed::jsonFile(folder / name), "leaf").size(), 2u) << name;
}

TEST(TheTrace, SaysWhatWasAskedFor) {
  const Folder folder;
  ProfilerConfig config(ProfilerState::KINETO, true, true, false, true, true, {}, "run \"7\"");
  profile(program, config)->save(folder / "all.json");
  profile(program)->save(folder / "none.json");
  const parsed::Json all = parsed::jsonFile(folder / "all.json");
  const parsed::Json none = parsed::jsonFile(folder / "none.json");
  for (const char* const key : {"record_shapes", "profile_memory", "with_flops", "with_modules"}) {
    EXPECT_EQ(all[key].number, 1) << key;
    EXPECT_NE(none[key].number, 1) << key;
  }
  EXPECT_EQ(all["trace_id"].text, "run \"7\"");
}

TEST(TraceOnly, HasNoEventsAndAWholeFile) {
  const Folder folder;
  ProfilerConfig config = kineto();
  config.experimental_config.trace_only = true;
  const auto result = profile(program, config);
  EXPECT_TRUE(result->events().empty());
  EXPECT_TRUE(result->event_tree().empty());
  EXPECT_TRUE(result->complete());
  EXPECT_EQ(result->ledger().recorded, 5u);
  result->save(folder / "trace.json");
  EXPECT_EQ(parsed::traceEvents(parsed::jsonFile(folder / "trace.json"), "leaf", "X").size(), 2u);
}

TEST(ADeadline, ThatHasPassedGivesWhatIsThereAndSaysSo) {
  const Folder folder;
  ProfilerConfig config = kineto();
  config.experimental_config.assembly_deadline = std::chrono::nanoseconds(1);
  const auto result = profile(
      [] {
        for (int i = 0; i < 20000; ++i) program();
      },
      config);
  EXPECT_FALSE(result->complete());
  EXPECT_LT(result->events().size(), 120000u);
  EXPECT_EQ(result->ledger().recorded, 100000u) << "nothing is lost of the capture";
  result->save(folder / "trace.json");
  const parsed::Json trace = parsed::jsonFile(folder / "trace.json");
  EXPECT_LT(parsed::traceEvents(trace, "leaf").size(), 40000u);
  EXPECT_EQ(trace["xsigmaAssembly"]["complete"].kind, parsed::Json::Kind::boolean);
  EXPECT_FALSE(trace["xsigmaAssembly"]["complete"].boolean) << "the file says so too";
  result->save(folder / "whole.xst");
  EXPECT_EQ(openCapture(folder / "whole.xst")->ledger().recorded, 100000u);
}

TEST(ADeadline, ThatIsFarAwayChangesNothing) {
  ProfilerConfig config = kineto();
  for (const std::chrono::nanoseconds deadline : {std::chrono::nanoseconds(std::chrono::hours(1)), std::chrono::nanoseconds::max()}) {
    config.experimental_config.assembly_deadline = deadline;
    const auto result = profile(program, config);
    EXPECT_TRUE(result->complete());
    EXPECT_EQ(result->events().size(), 6u);
  }
}

}  // namespace
}  // namespace xsigma::profiler
