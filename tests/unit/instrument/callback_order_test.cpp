// Which callback runs when, and what becomes of the context between its two halves.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

using Log = std::vector<std::string>;

Log seen;
int contexts_alive = 0;

struct Numbered : ObserverContext {
  explicit Numbered(int n) : number(n) { ++contexts_alive; }
  ~Numbered() override { --contexts_alive; }
  int number;
};

template <int N>
std::unique_ptr<ObserverContext> onStart(const RecordFunction& function) {
  seen.push_back(std::to_string(N) + " starts " + function.name());
  return std::make_unique<Numbered>(N);
}

template <int N>
void onEnd(const RecordFunction& function, ObserverContext* context) {
  const auto* const mine = dynamic_cast<Numbered*>(context);
  seen.push_back(std::to_string(N) + " ends " + function.name() + (mine != nullptr && mine->number == N ? "" : " with a wrong context"));
}

template <int N>
RecordFunctionCallback callback() {
  return RecordFunctionCallback(onStart<N>, onEnd<N>);
}

class CallbackOrder : public testing::Test {
 protected:
  void SetUp() override {
    seen.clear();
    contexts_alive = 0;
  }
  void TearDown() override { clearCallbacks(); }
};

TEST_F(CallbackOrder, GlobalOnesComeFirstThenThoseOfTheThreadEachAsRegistered) {
  addThreadLocalCallback(callback<3>());
  addGlobalCallback(callback<1>());
  addThreadLocalCallback(callback<4>());
  addGlobalCallback(callback<2>());
  {
    XSIGMA_PROFILE_SCOPE("f");
    EXPECT_EQ(seen, (Log{"1 starts f", "2 starts f", "3 starts f", "4 starts f"}));
    seen.clear();
  }
  EXPECT_EQ(seen, (Log{"1 ends f", "2 ends f", "3 ends f", "4 ends f"}));
}

TEST_F(CallbackOrder, SevenAtOnceAllRunAndGetTheirOwnContextsBack) {
  addGlobalCallback(callback<1>());
  addGlobalCallback(callback<2>());
  addGlobalCallback(callback<3>());
  addGlobalCallback(callback<4>());
  addThreadLocalCallback(callback<5>());
  addThreadLocalCallback(callback<6>());
  addThreadLocalCallback(callback<7>());
  {
    XSIGMA_RECORD_FUNCTION("g", {});
    EXPECT_EQ(contexts_alive, 7);
  }
  EXPECT_EQ(contexts_alive, 0);
  EXPECT_EQ(seen, (Log{"1 starts g", "2 starts g", "3 starts g", "4 starts g", "5 starts g", "6 starts g", "7 starts g",  //
                       "1 ends g", "2 ends g", "3 ends g", "4 ends g", "5 ends g", "6 ends g", "7 ends g"}));
}

TEST_F(CallbackOrder, FollowsTheNestingOfRanges) {
  addGlobalCallback(callback<1>());
  {
    XSIGMA_PROFILE_SCOPE("outer");
    XSIGMA_RECORD_USER_SCOPE("inner");
    EXPECT_EQ(contexts_alive, 2);
  }
  EXPECT_EQ(seen, (Log{"1 starts outer", "1 starts inner", "1 ends inner", "1 ends outer"}));
  EXPECT_EQ(contexts_alive, 0);
}

TEST_F(CallbackOrder, AThreadsOwnCallbackStaysOnThatThread) {
  addThreadLocalCallback(callback<1>());
  std::thread([] { XSIGMA_PROFILE_SCOPE("elsewhere"); }).join();
  XSIGMA_PROFILE_SCOPE("here");
  EXPECT_EQ(seen, Log{"1 starts here"});
}

TEST_F(CallbackOrder, AGlobalCallbackRunsOnThreadsBornLater) {
  addGlobalCallback(callback<1>());
  std::thread([] { XSIGMA_PROFILE_SCOPE("elsewhere"); }).join();
  EXPECT_EQ(seen, (Log{"1 starts elsewhere", "1 ends elsewhere"}));
}

TEST_F(CallbackOrder, TheCallbacksOfAThreadEndWithIt) {
  std::thread([] { addThreadLocalCallback(callback<1>()); }).join();
  std::thread([] { XSIGMA_PROFILE_SCOPE("next thread"); }).join();  // most likely in the memory of the one before
  EXPECT_EQ(seen, Log{});
}

TEST_F(CallbackOrder, AStartWithoutAnEndAndAnEndWithoutAStartAreFine) {
  addGlobalCallback(RecordFunctionCallback(onStart<1>));
  addGlobalCallback(RecordFunctionCallback(nullptr, [](const RecordFunction& function, ObserverContext* context) {
    seen.push_back(std::string("end of ") + function.name() + (context == nullptr ? " without context" : ""));
  }));
  { XSIGMA_PROFILE_SCOPE("half"); }
  EXPECT_EQ(seen, (Log{"1 starts half", "end of half without context"}));
  EXPECT_EQ(contexts_alive, 0);
}

TEST_F(CallbackOrder, ACallbackRegisteredInsideARangeSeesOnlyTheNext) {
  addGlobalCallback(callback<1>());
  {
    XSIGMA_PROFILE_SCOPE("open");
    addGlobalCallback(callback<2>());
    XSIGMA_PROFILE_SCOPE("next");
  }
  EXPECT_EQ(seen, (Log{"1 starts open", "1 starts next", "2 starts next", "1 ends next", "2 ends next", "1 ends open"}));
}

TEST_F(CallbackOrder, SeesTheSameNameForEveryWayToOpenARange) {
  addGlobalCallback(RecordFunctionCallback(onStart<1>));
  const std::string dynamic = "dynamic";
  const auto everyWay = [&] {
    XSIGMA_PROFILE_SCOPE("static");
    XSIGMA_PROFILE_SCOPE_DYNAMIC(dynamic);
    XSIGMA_PROFILE_FUNCTION();
    XSIGMA_RECORD_USER_SCOPE("user");
    RecordFunction function(RecordScope::BACKWARD_FUNCTION);
    function.before("by hand");
  };
  everyWay();
  EXPECT_EQ(seen, (Log{"1 starts static", "1 starts dynamic", "1 starts operator()", "1 starts user", "1 starts by hand"}));
}

TEST_F(CallbackOrder, ARangeThatNeverBeganNeverEnds) {
  addGlobalCallback(callback<1>());
  {
    RecordFunction function;
    EXPECT_TRUE(function.isActive());
    function.end();
  }
  EXPECT_EQ(seen, Log{});
}

TEST_F(CallbackOrder, ARangeEndsOnce) {
  addGlobalCallback(callback<1>());
  {
    RecordFunction function;
    function.before("f");
    function.end();
    function.end();
    EXPECT_EQ(contexts_alive, 0);
  }
  EXPECT_EQ(seen, (Log{"1 starts f", "1 ends f"}));
}

TEST_F(CallbackOrder, NoTwoRegistrationsShareAHandle) {
  std::set<CallbackHandle> handles;
  for (int i = 0; i < 50; ++i) {
    handles.insert(addGlobalCallback(callback<1>()));
    handles.insert(addThreadLocalCallback(callback<1>()));
    const CallbackHandle removed = addGlobalCallback(callback<1>());
    handles.insert(removed);
    removeCallback(removed);
  }
  EXPECT_EQ(handles.size(), 150u);
  EXPECT_EQ(handles.count(INVALID_CALLBACK_HANDLE), 0u);
}

}  // namespace
}  // namespace xsigma::profiler
