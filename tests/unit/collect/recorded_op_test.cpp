// What a capture says about a RecordFunction beside its inputs: op_info, ids, async ends.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "../recorded.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

RecordFunctionCallback idle() {
  return RecordFunctionCallback([](const RecordFunction&) -> std::unique_ptr<ObserverContext> { return nullptr; });
}

class RecordedOp : public testing::Test {
 protected:
  void TearDown() override { clearCallbacks(); }
  Recording recording_ = startRecording().value();
};

TEST_F(RecordedOp, CarriesItsNumbers) {
  {
    RecordFunction function(RecordScope::BACKWARD_FUNCTION);
    function.setForwardThreadId(12);
    function.setDebugHandle(34);
    function.before("backward", int64_t{1} << 40);
  }
  const Capture capture = recording_.stop();
  const std::vector<recorded::Seen> infos = recorded::all(capture, RecordKind::op_info);
  ASSERT_EQ(infos.size(), 1u);
  EXPECT_EQ(infos[0].sequence_number, int64_t{1} << 40);
  EXPECT_EQ(infos[0].forward_thread, 12u);
  EXPECT_EQ(infos[0].debug_handle, 34);
  EXPECT_FALSE(infos[0].async);
  EXPECT_EQ(recorded::scope(capture, "backward").scope, RecordScope::BACKWARD_FUNCTION);
}

TEST_F(RecordedOp, WithoutNumbersTakesNoRoomForThem) {
  { XSIGMA_RECORD_USER_SCOPE("plain"); }
  const Capture capture = recording_.stop();
  ASSERT_EQ(recorded::all(capture).size(), 2u);
  EXPECT_EQ(recorded::all(capture)[0].kind, RecordKind::scope_begin);
  EXPECT_EQ(recorded::all(capture)[1].kind, RecordKind::scope_end);
}

TEST_F(RecordedOp, OfEveryKindKeepsItsKind) {
  for (uint8_t i = 0; i < kNumRecordScopes; ++i) {
    RecordFunction function(static_cast<RecordScope>(i));
    function.before("same name");
  }
  const std::vector<recorded::Scope> scopes = recorded::scopes(recording_.stop());
  ASSERT_EQ(scopes.size(), kNumRecordScopes);
  for (uint8_t i = 0; i < kNumRecordScopes; ++i) EXPECT_EQ(scopes[i].scope, static_cast<RecordScope>(i));
}

TEST_F(RecordedOp, HasTheIdThatItsHandleSays) {
  std::vector<uint64_t> handles;
  const auto open = [&] {
    RecordFunction function;
    function.before("op");
    handles.push_back(function.handle());
  };
  for (int i = 0; i < 300; ++i) {
    XSIGMA_PROFILE_SCOPE("between");
    open();
  }
  const CallbackHandle plain = addGlobalCallback(idle());
  for (int i = 0; i < 300; ++i) open();
  addGlobalCallback(idle().needsIds(true));
  for (int i = 0; i < 300; ++i) open();
  removeCallback(plain);
  for (int i = 0; i < 300; ++i) open();
  clearCallbacks();
  for (int i = 0; i < 300; ++i) open();

  std::vector<uint64_t> recorded_ids;
  for (const recorded::Scope& scope : recorded::scopes(recording_.stop())) {
    if (scope.name == "op") recorded_ids.push_back(scope.id);
  }
  EXPECT_EQ(recorded_ids, handles);
  EXPECT_EQ(std::set<uint64_t>(handles.begin(), handles.end()).size(), 1500u);
  EXPECT_EQ(std::count(handles.begin(), handles.end(), 0u), 0);
}

TEST_F(RecordedOp, KeepsTheHandleThatTheUserGaveIt) {
  {
    RecordFunction function;
    function.setHandle(0xABCDEF0123456789);
    function.before("mine");
    EXPECT_EQ(function.handle(), 0xABCDEF0123456789u);
  }
  EXPECT_EQ(recorded::scope(recording_.stop(), "mine").id, 0xABCDEF0123456789u);
}

TEST_F(RecordedOp, OnSeveralThreadsNeverSharesAnId) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 5000; ++n) {
        XSIGMA_PROFILE_SCOPE("scope");
        XSIGMA_RECORD_FUNCTION("op", {});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> ids;
  for (const recorded::Scope& scope : recorded::scopes(recording_.stop())) ids.insert(scope.id);
  EXPECT_EQ(ids.size(), 40000u);
  EXPECT_EQ(ids.count(0), 0u);
}

TEST_F(RecordedOp, ThatIsAsyncEndsWhereItEnds) {
  auto function = std::make_unique<RecordFunction>();
  function->_setAsync();
  function->before("rpc", 6);
  const uint64_t handle = function->handle();
  std::thread([&] { function->end(); }).join();
  function.reset();
  const Capture capture = recording_.stop();

  const std::vector<recorded::Seen> infos = recorded::all(capture, RecordKind::op_info);
  ASSERT_EQ(infos.size(), 1u);
  EXPECT_TRUE(infos[0].async);
  EXPECT_EQ(infos[0].sequence_number, 6);
  const std::vector<recorded::Seen> begins = recorded::all(capture, RecordKind::scope_begin);
  const std::vector<recorded::Seen> ends = recorded::all(capture, RecordKind::async_end);
  ASSERT_EQ(begins.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].name, "rpc");
  EXPECT_EQ(ends[0].id, handle);
  EXPECT_EQ(ends[0].begin_ticks, begins[0].ticks);
  EXPECT_GT(ends[0].ticks, begins[0].ticks);
  EXPECT_NE(ends[0].thread, begins[0].thread);
  EXPECT_TRUE(recorded::all(capture, RecordKind::scope_end).empty());
  EXPECT_EQ(capture.ledger().recorded, 1u);
  EXPECT_EQ(capture.ledger().unfinished, 0u);
}

TEST_F(RecordedOp, StillOpenAtStopIsReportedAsUnfinished) {
  RecordFunction function;
  function.before("open");
  XSIGMA_PROFILE_SCOPE("open too");
  const Ledger ledger = recording_.stop().ledger();
  EXPECT_EQ(ledger.recorded, 2u);
  EXPECT_EQ(ledger.unfinished, 2u);
  EXPECT_EQ(ledger.dropped, 0u);
}

}  // namespace
}  // namespace xsigma::profiler
