// RecordQueue: operations begun and ended by hand.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../recorded.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

using Names = std::vector<std::string>;

class RecordQueueTest : public testing::Test {
 protected:
  void TearDown() override { clearCallbacks(); }
  RecordQueue queue_ = RecordQueue::create().value();
};

TEST_F(RecordQueueTest, HoldsTheOpsThatWereBegunAndEnded) {
  const OpToken outer = queue_.begin_op("outer");
  const OpToken inner = queue_.begin_op("inner", RecordScope::USER_SCOPE);
  queue_.end_op(inner);
  queue_.end_op(outer);
  const Capture capture = queue_.stop();
  const std::vector<recorded::Scope> scopes = recorded::scopes(capture);
  ASSERT_EQ(recorded::names(capture), (Names{"outer", "inner"}));
  EXPECT_EQ(scopes[0].scope, RecordScope::FUNCTION);
  EXPECT_EQ(scopes[1].scope, RecordScope::USER_SCOPE);
  EXPECT_EQ(scopes[0].id, outer.id);
  EXPECT_EQ(scopes[1].id, inner.id);
  EXPECT_EQ(scopes[1].begin, inner.ticks);
  EXPECT_EQ(scopes[1].depth, 1u);
  EXPECT_LE(scopes[1].end, scopes[0].end);
  EXPECT_TRUE(capture.ledger().whole());
}

TEST_F(RecordQueueTest, LetsOpsOverlap) {
  const OpToken first = queue_.begin_op("first");
  const OpToken second = queue_.begin_op("second");
  queue_.end_op(first);
  queue_.end_op(second);
  const Capture capture = queue_.stop();
  EXPECT_LE(recorded::scope(capture, "first").end, recorded::scope(capture, "second").end);
  EXPECT_EQ(capture.ledger().unfinished, 0u);
}

std::function<void(const RecordFunction&)> at_start;

TEST_F(RecordQueueTest, TakesTheDetailsOfARecordFunctionFromItsStartCallback) {
  OpToken token;
  uint64_t handle = 0;
  at_start = [&](const RecordFunction& function) {
    token = queue_.begin_op(function);
    handle = function.handle();
  };
  addGlobalCallback(RecordFunctionCallback([](const RecordFunction& function) -> std::unique_ptr<ObserverContext> {
                      at_start(function);
                      return nullptr;
                    })
                        .needsInputs(true)
                        .needsIds(true));
  const int64_t sizes[] = {8, 9};
  {
    RecordFunction function(RecordScope::BACKWARD_FUNCTION);
    function.setForwardThreadId(3);
    function.setDebugHandle(4);
    function.before("aten::mm", {TensorInfo{.sizes = sizes, .dim = 2, .dtype = "half"}}, KeywordList{{"alpha", 2}}, 55);
    queue_.end_op(token);
  }
  const Capture capture = queue_.stop();
  const recorded::Scope scope = recorded::scope(capture, "aten::mm");
  EXPECT_EQ(scope.scope, RecordScope::BACKWARD_FUNCTION);
  EXPECT_NE(handle, 0u);
  EXPECT_EQ(scope.id, handle);
  EXPECT_EQ(token.id, handle);
  EXPECT_NE(scope.end, 0u);
  const recorded::Seen info = recorded::all(capture, RecordKind::op_info).at(0);
  EXPECT_EQ(info.sequence_number, 55);
  EXPECT_EQ(info.forward_thread, 3u);
  EXPECT_EQ(info.debug_handle, 4);
  const std::vector<recorded::Seen> inputs = recorded::all(capture, RecordKind::inputs);
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].inputs.at(0).sizes, (std::vector<int64_t>{8, 9}));
  EXPECT_EQ(inputs[1].keys, Names{"alpha"});
}

TEST_F(RecordQueueTest, TakesTheScopesThatACallbackPassesOn) {
  std::vector<OpToken> tokens;
  at_start = [&](const RecordFunction& function) { tokens.push_back(queue_.begin_op(function)); };
  addGlobalCallback(RecordFunctionCallback([](const RecordFunction& function) -> std::unique_ptr<ObserverContext> {
    at_start(function);
    return nullptr;
  }));
  {
    XSIGMA_PROFILE_SCOPE("scope");
    XSIGMA_PROFILE_SCOPE_DYNAMIC("dynamic");
  }
  for (const OpToken& token : tokens) queue_.end_op(token);
  EXPECT_EQ(recorded::names(queue_.stop()), (Names{"scope", "dynamic"}));
}

TEST_F(RecordQueueTest, DoesNotHearTheMacros) {
  Recording recording = startRecording().value();
  const OpToken token = queue_.begin_op("by hand");
  {
    XSIGMA_PROFILE_SCOPE("macro");
    XSIGMA_RECORD_FUNCTION("function", {1});
    recordInstant("mark");
  }
  queue_.end_op(token);
  const Capture by_hand = queue_.stop();
  const Capture by_macro = recording.stop();
  EXPECT_EQ(recorded::all(by_hand).size(), 2u);
  EXPECT_EQ(recorded::names(by_hand), Names{"by hand"});
  EXPECT_EQ(recorded::names(by_macro), (Names{"macro", "function"}));
}

TEST_F(RecordQueueTest, DoesNotMakeTheMacrosBusy) {
  int evaluated = 0;
  { XSIGMA_PROFILE_SCOPE_DYNAMIC((++evaluated, "name")); }
  EXPECT_EQ(evaluated, 0);
  EXPECT_TRUE(recorded::all(queue_.stop()).empty());
}

TEST_F(RecordQueueTest, KeepsTheOpsOfEveryThreadApart) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      for (int n = 0; n < 2000; ++n) queue_.end_op(queue_.begin_op("op of " + std::to_string(i)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Capture capture = queue_.stop();
  ASSERT_EQ(capture.threads().size(), 4u);
  std::vector<std::string> name_of(4);
  for (const recorded::Scope& scope : recorded::scopes(capture)) {
    std::string& name = name_of.at(scope.thread);
    if (name.empty()) name = scope.name;
    ASSERT_EQ(scope.name, name);
    ASSERT_NE(scope.end, 0u);
  }
  for (const ThreadLedger& thread : capture.ledger().threads) EXPECT_EQ(thread.recorded, 2000u);
}

TEST_F(RecordQueueTest, LetsAnotherThreadEndAnOp) {
  const OpToken token = queue_.begin_op("handed over");
  std::thread([&] { queue_.end_op(token); }).join();
  const Capture capture = queue_.stop();
  const std::vector<recorded::Seen> ends = recorded::all(capture, RecordKind::async_end);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].name, "handed over");
  EXPECT_EQ(ends[0].id, token.id);
  EXPECT_EQ(ends[0].begin_ticks, token.ticks);
  EXPECT_NE(ends[0].thread, token.thread);
  EXPECT_EQ(capture.ledger().recorded, 1u);
  EXPECT_EQ(capture.ledger().unfinished, 0u);
}

TEST_F(RecordQueueTest, ReportsAnOpWithoutEndAsUnfinished) {
  queue_.begin_op("open");
  const Ledger ledger = queue_.stop().ledger();
  EXPECT_EQ(ledger.recorded, 1u);
  EXPECT_EQ(ledger.unfinished, 1u);
}

TEST(RecordQueueFull, GivesTokensThatEndNothing) {
  RecordQueue queue = RecordQueue::create({.byte_cap = kMinimumByteCap}).value();
  uint64_t begun = 0;
  OpToken token;
  do {
    token = queue.begin_op("op");
    ++begun;
  } while (token.ticks != 0 && begun < 1000000);
  for (int i = 0; i < 100; ++i) queue.end_op(token);
  const Capture capture = queue.stop();
  const Ledger ledger = capture.ledger();
  EXPECT_EQ(ledger.attempted, begun);
  EXPECT_EQ(ledger.recorded, begun - 1);
  EXPECT_EQ(ledger.unfinished, begun - 1);
  EXPECT_EQ(ledger.causes[static_cast<size_t>(LossCause::cap_reached)], 1u);
  EXPECT_TRUE(recorded::all(capture, RecordKind::scope_end).empty());
  EXPECT_TRUE(recorded::all(capture, RecordKind::async_end).empty());
}

TEST(RecordQueueOptions, AreChecked) {
  const Expected<RecordQueue> small = RecordQueue::create({.byte_cap = 100});
  ASSERT_FALSE(small.ok());
  EXPECT_EQ(small.status().code(), StatusCode::invalid_argument);
  EXPECT_NE(small.message().find("100"), std::string::npos);
  const Expected<RecordQueue> forking = RecordQueue::create({.path = "never_written.xst", .follow_fork = true});
  ASSERT_FALSE(forking.ok());
  EXPECT_NE(forking.message().find("fork"), std::string::npos);
}

}  // namespace
}  // namespace xsigma::profiler
