// Registering, switching and asking: who is called and who is not.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../warnings.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

int starts = 0;
int ends = 0;
std::vector<RecordScope> scopes_seen;

std::unique_ptr<ObserverContext> onStart(const RecordFunction& function) {
  ++starts;
  scopes_seen.push_back(function.scope());
  return nullptr;
}
void onEnd(const RecordFunction&, ObserverContext*) { ++ends; }

const RecordFunctionCallback counting(onStart, onEnd);

int startsOfOneScope() {
  starts = 0;
  { XSIGMA_PROFILE_SCOPE("one"); }
  return starts;
}

class CallbackRegistry : public testing::Test {
 protected:
  void SetUp() override {
    starts = ends = 0;
    scopes_seen.clear();
  }
  void TearDown() override {
    clearCallbacks();
    enableRecordFunction(true);
  }
};

TEST_F(CallbackRegistry, RemovedCallbacksRunNoMore) {
  const CallbackHandle global = addGlobalCallback(counting);
  const CallbackHandle local = addThreadLocalCallback(counting);
  EXPECT_EQ(startsOfOneScope(), 2);
  removeCallback(global);
  EXPECT_EQ(startsOfOneScope(), 1);
  removeCallback(local);
  EXPECT_EQ(startsOfOneScope(), 0);
}

TEST_F(CallbackRegistry, DisabledCallbacksRestUntilReenabled) {
  const CallbackHandle global = addGlobalCallback(counting);
  const CallbackHandle local = addThreadLocalCallback(counting);
  disableCallback(global);
  EXPECT_EQ(startsOfOneScope(), 1);
  disableCallback(local);
  EXPECT_EQ(startsOfOneScope(), 0);
  reenableCallback(global);
  reenableCallback(local);
  EXPECT_EQ(startsOfOneScope(), 2);
}

TEST_F(CallbackRegistry, HasCallbacksMeansAtLeastOneThatIsEnabled) {
  EXPECT_FALSE(hasCallbacks());
  const CallbackHandle global = addGlobalCallback(counting);
  EXPECT_TRUE(hasGlobalCallbacks());
  EXPECT_FALSE(hasThreadLocalCallbacks());
  EXPECT_TRUE(hasCallbacks());
  disableCallback(global);
  EXPECT_FALSE(hasGlobalCallbacks());
  EXPECT_FALSE(hasCallbacks());
  const CallbackHandle local = addThreadLocalCallback(counting);
  EXPECT_TRUE(hasThreadLocalCallbacks());
  EXPECT_TRUE(hasCallbacks());
  std::thread([] {
    EXPECT_FALSE(hasThreadLocalCallbacks());
    EXPECT_FALSE(hasCallbacks());
  }).join();
  disableCallback(local);
  EXPECT_FALSE(hasThreadLocalCallbacks());
  EXPECT_FALSE(hasCallbacks());
}

TEST_F(CallbackRegistry, ClearTakesOneKindOrBoth) {
  addGlobalCallback(counting);
  addGlobalCallback(counting);
  addThreadLocalCallback(counting);
  clearGlobalCallbacks();
  EXPECT_EQ(startsOfOneScope(), 1);
  addGlobalCallback(counting);
  clearThreadLocalCallbacks();
  EXPECT_EQ(startsOfOneScope(), 1);
  EXPECT_TRUE(hasGlobalCallbacks());
  addThreadLocalCallback(counting);
  clearCallbacks();
  EXPECT_EQ(startsOfOneScope(), 0);
  EXPECT_FALSE(hasCallbacks());
}

TEST_F(CallbackRegistry, AnUnknownHandleIsAWarningThatNamesIt) {
  const Warnings warnings;
  const CallbackHandle known = addGlobalCallback(counting);
  removeCallback(987654);
  disableCallback(987655);
  reenableCallback(987656);
  removeCallback(INVALID_CALLBACK_HANDLE);
  const std::vector<std::string> said = warnings.all();
  ASSERT_EQ(said.size(), 4u);
  EXPECT_NE(said[0].find("987654"), std::string::npos);
  EXPECT_NE(said[0].find("Requested callback is not found"), std::string::npos);
  EXPECT_NE(said[1].find("987655"), std::string::npos);
  EXPECT_NE(said[2].find("987656"), std::string::npos);
  removeCallback(known);
  EXPECT_EQ(warnings.count(), 4u);
  removeCallback(known);
  EXPECT_EQ(warnings.count(), 5u);
}

TEST_F(CallbackRegistry, AThreadCannotRemoveTheCallbackOfAnother) {
  const Warnings warnings;
  const CallbackHandle local = addThreadLocalCallback(counting);
  std::thread([=] { removeCallback(local); }).join();
  EXPECT_EQ(warnings.count(), 1u);
  EXPECT_EQ(startsOfOneScope(), 1);
}

TEST_F(CallbackRegistry, ScopesChooseWhatACallbackSees) {
  RecordFunctionCallback chosen = counting;
  chosen.scopes({RecordScope::BACKWARD_FUNCTION, RecordScope::USER_SCOPE});
  EXPECT_TRUE(chosen.checkScope(RecordScope::USER_SCOPE));
  EXPECT_FALSE(chosen.checkScope(RecordScope::FUNCTION));
  addGlobalCallback(chosen);
  for (uint8_t i = 0; i < kNumRecordScopes; ++i) {
    RecordFunction function(static_cast<RecordScope>(i));
    function.before("f");
  }
  XSIGMA_PROFILE_SCOPE("user");
  XSIGMA_PROFILE_FUNCTION();
  EXPECT_EQ(scopes_seen, (std::vector{RecordScope::BACKWARD_FUNCTION, RecordScope::USER_SCOPE, RecordScope::USER_SCOPE}));
}

TEST_F(CallbackRegistry, NoScopesMeansAllTen) {
  RecordFunctionCallback any = counting;
  any.scopes({RecordScope::FUNCTION}).scopes({});
  addGlobalCallback(any);
  for (uint8_t i = 0; i < kNumRecordScopes; ++i) {
    RecordFunction function(static_cast<RecordScope>(i));
    function.before("f");
  }
  EXPECT_EQ(scopes_seen.size(), 10u);
  EXPECT_EQ(scopes_seen.front(), RecordScope::FUNCTION);
  EXPECT_EQ(scopes_seen.back(), RecordScope::STATIC_RUNTIME_MODEL);
}

TEST_F(CallbackRegistry, TheSwitchSilencesOneThread) {
  addGlobalCallback(counting);
  EXPECT_TRUE(isRecordFunctionEnabled());
  enableRecordFunction(false);
  EXPECT_FALSE(isRecordFunctionEnabled());
  EXPECT_EQ(startsOfOneScope(), 0);
  RecordFunction function;
  EXPECT_FALSE(function.isActive());
  std::thread([] {
    EXPECT_TRUE(isRecordFunctionEnabled());
    EXPECT_EQ(startsOfOneScope(), 1);
  }).join();
  enableRecordFunction();
  EXPECT_EQ(startsOfOneScope(), 1);
}

TEST_F(CallbackRegistry, ARangeThatIsOpenWhenTheSwitchTurnsStillEnds) {
  addGlobalCallback(counting);
  {
    XSIGMA_PROFILE_SCOPE("open");
    enableRecordFunction(false);
  }
  EXPECT_EQ(starts, 1);
  EXPECT_EQ(ends, 1);
}

TEST_F(CallbackRegistry, GuardsTurnTheSwitchAndPutItBack) {
  addGlobalCallback(counting);
  {
    const DisableRecordFunctionGuard off;
    EXPECT_EQ(startsOfOneScope(), 0);
    {
      const RecordFunctionGuard on;
      EXPECT_EQ(startsOfOneScope(), 1);
      const RecordFunctionGuard off_again(false);
      EXPECT_EQ(startsOfOneScope(), 0);
    }
    EXPECT_FALSE(isRecordFunctionEnabled());
    EXPECT_EQ(startsOfOneScope(), 0);
  }
  EXPECT_EQ(startsOfOneScope(), 1);
}

TEST_F(CallbackRegistry, ThreadStateTravelsToAnotherThread) {
  const CallbackHandle first = addThreadLocalCallback(counting);
  const CallbackHandle second = addThreadLocalCallback(counting);
  disableCallback(second);
  const RecordFunctionTLS mine = get_record_function_tls_();
  ASSERT_EQ(mine.sorted_tls_callbacks_.size(), 2u);
  EXPECT_EQ(mine.sorted_tls_callbacks_[0].handle, first);
  EXPECT_TRUE(mine.sorted_tls_callbacks_[0].enabled);
  EXPECT_FALSE(mine.sorted_tls_callbacks_[1].enabled);
  EXPECT_TRUE(mine.tls_record_function_enabled_);
  std::thread([&] {
    const RecordFunctionTLS before = get_record_function_tls_();
    EXPECT_EQ(startsOfOneScope(), 0);
    set_record_function_tls_(mine);
    EXPECT_EQ(startsOfOneScope(), 1);
    reenableCallback(second);
    EXPECT_EQ(startsOfOneScope(), 2);
    removeCallback(first);
    EXPECT_EQ(startsOfOneScope(), 1);
    set_record_function_tls_(before);
    EXPECT_EQ(startsOfOneScope(), 0);
  }).join();
  EXPECT_EQ(startsOfOneScope(), 1);
}

TEST_F(CallbackRegistry, ThreadStateIncludesTheSwitch) {
  addGlobalCallback(counting);
  RecordFunctionTLS silent = get_record_function_tls_();
  silent.tls_record_function_enabled_ = false;
  set_record_function_tls_(silent);
  EXPECT_FALSE(isRecordFunctionEnabled());
  EXPECT_EQ(startsOfOneScope(), 0);
  EXPECT_FALSE(get_record_function_tls_().tls_record_function_enabled_);
}

}  // namespace
}  // namespace xsigma::profiler
