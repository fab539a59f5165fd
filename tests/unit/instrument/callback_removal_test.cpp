// removeCallback: once it has returned, the callback is history, on every thread.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

using namespace std::chrono_literals;

std::atomic<int> contexts_alive{0};
std::atomic<int> foreign_deaths{0};  // contexts destroyed by another thread than made them

struct Owned : ObserverContext {
  Owned() { ++contexts_alive; }
  ~Owned() override {
    --contexts_alive;
    if (std::this_thread::get_id() != maker) ++foreign_deaths;
  }
  std::thread::id maker = std::this_thread::get_id();
};

std::atomic<int> starts{0};
std::atomic<int> ends{0};

std::unique_ptr<ObserverContext> onStart(const RecordFunction&) {
  ++starts;
  return std::make_unique<Owned>();
}
void onEnd(const RecordFunction&, ObserverContext*) { ++ends; }

class CallbackRemoval : public testing::Test {
 protected:
  void SetUp() override { contexts_alive = foreign_deaths = starts = ends = 0; }
  void TearDown() override { clearCallbacks(); }
};

void waitFor(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

TEST_F(CallbackRemoval, CutsTheRangeThatIsOpenOnThisThread) {
  const CallbackHandle handle = addGlobalCallback(RecordFunctionCallback(onStart, onEnd));
  {
    XSIGMA_PROFILE_SCOPE("open");
    removeCallback(handle);
    EXPECT_EQ(contexts_alive, 1);
  }
  EXPECT_EQ(starts, 1);
  EXPECT_EQ(ends, 0);
  EXPECT_EQ(contexts_alive, 0);
}

TEST_F(CallbackRemoval, CutsARangeOpenOnAnotherThreadWhichDestroysItsContext) {
  std::atomic<bool> opened{false};
  std::atomic<bool> removed{false};
  const CallbackHandle handle = addGlobalCallback(RecordFunctionCallback(onStart, onEnd));
  std::thread other([&] {
    {
      XSIGMA_RECORD_FUNCTION("open", {});
      XSIGMA_PROFILE_SCOPE("open too");
      opened = true;
      waitFor(removed);
    }
    EXPECT_EQ(contexts_alive, 0);
  });
  waitFor(opened);
  removeCallback(handle);
  EXPECT_EQ(contexts_alive, 2);
  removed = true;
  other.join();
  EXPECT_EQ(starts, 2);
  EXPECT_EQ(ends, 0);
  EXPECT_EQ(foreign_deaths, 0);
}

TEST_F(CallbackRemoval, ARegistrationInThePlaceOfTheOldOneDoesNotEndItsRanges) {
  CallbackHandle handle = addGlobalCallback(RecordFunctionCallback(onStart, onEnd));
  {
    XSIGMA_PROFILE_SCOPE("open");
    removeCallback(handle);
    handle = addGlobalCallback(RecordFunctionCallback(onStart, onEnd));
  }
  EXPECT_EQ(ends, 0);
  { XSIGMA_PROFILE_SCOPE("next"); }
  EXPECT_EQ(ends, 1);
}

TEST_F(CallbackRemoval, ClearingCutsOpenRangesToo) {
  addGlobalCallback(RecordFunctionCallback(onStart, onEnd));
  addThreadLocalCallback(RecordFunctionCallback(onStart, onEnd));
  {
    XSIGMA_PROFILE_SCOPE("open");
    clearCallbacks();
  }
  EXPECT_EQ(starts, 2);
  EXPECT_EQ(ends, 0);
  EXPECT_EQ(contexts_alive, 0);
}

CallbackHandle own_handle = INVALID_CALLBACK_HANDLE;

TEST_F(CallbackRemoval, ACallbackMayRemoveItselfAtItsStart) {
  own_handle = addGlobalCallback(RecordFunctionCallback(
      [](const RecordFunction& function) {
        removeCallback(own_handle);
        return onStart(function);
      },
      onEnd));
  {
    XSIGMA_PROFILE_SCOPE("first");
    XSIGMA_PROFILE_SCOPE("second");
  }
  EXPECT_EQ(starts, 1);
  EXPECT_EQ(ends, 0);
  EXPECT_EQ(contexts_alive, 0);
  EXPECT_FALSE(hasCallbacks());
}

TEST_F(CallbackRemoval, ACallbackMayRemoveItselfAtItsEnd) {
  own_handle = addThreadLocalCallback(RecordFunctionCallback(onStart, [](const RecordFunction& function, ObserverContext* context) {
    removeCallback(own_handle);
    onEnd(function, context);
  }));
  { XSIGMA_PROFILE_SCOPE("first"); }
  { XSIGMA_PROFILE_SCOPE("second"); }
  EXPECT_EQ(starts, 1);
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(contexts_alive, 0);
}

std::atomic<bool> inside{false};
std::atomic<bool> go_on{false};
std::atomic<bool> left{false};

std::unique_ptr<ObserverContext> staysInside(const RecordFunction&) {
  inside = true;
  waitFor(go_on);
  left = true;
  return nullptr;
}

TEST_F(CallbackRemoval, WaitsForTheThreadThatIsInsideTheCallback) {
  inside = go_on = left = false;
  const CallbackHandle handle = addGlobalCallback(RecordFunctionCallback(staysInside));
  std::thread watched([] { XSIGMA_PROFILE_SCOPE("f"); });
  waitFor(inside);
  std::future<bool> removal = std::async(std::launch::async, [=] {
    removeCallback(handle);
    return left.load();
  });
  EXPECT_EQ(removal.wait_for(100ms), std::future_status::timeout);
  go_on = true;
  EXPECT_TRUE(removal.get());
  watched.join();
}

CallbackHandle slow_handle = INVALID_CALLBACK_HANDLE;
std::atomic<bool> removing{false};
std::atomic<bool> remover_left{false};

// The callback that is removed is itself waiting for a third one to be left: no circle, so everybody is waited for.
TEST_F(CallbackRemoval, WaitsAlsoWhenTheCallbackIsBusyRemovingAnother) {
  inside = go_on = left = removing = remover_left = false;
  RecordFunctionCallback slow(staysInside);
  slow_handle = addGlobalCallback(slow.scopes({RecordScope::FUNCTION}));
  RecordFunctionCallback remover([](const RecordFunction&) -> std::unique_ptr<ObserverContext> {
    removing = true;
    removeCallback(slow_handle);
    remover_left = true;
    return nullptr;
  });
  const CallbackHandle handle = addGlobalCallback(remover.scopes({RecordScope::USER_SCOPE}));
  std::thread in_slow([] { XSIGMA_PROFILE_FUNCTION(); });
  waitFor(inside);
  std::thread in_remover([] { XSIGMA_PROFILE_SCOPE("f"); });
  waitFor(removing);
  std::this_thread::sleep_for(50ms);
  std::future<bool> removal = std::async(std::launch::async, [=] {
    removeCallback(handle);
    return remover_left.load();
  });
  EXPECT_EQ(removal.wait_for(100ms), std::future_status::timeout);
  go_on = true;
  EXPECT_TRUE(removal.get());
  in_slow.join();
  in_remover.join();
}

std::atomic<CallbackHandle> pair[2];
std::atomic<int> arrived{0};

template <int Mine>
std::unique_ptr<ObserverContext> removesTheOther(const RecordFunction&) {
  ++arrived;
  while (arrived < 2) std::this_thread::yield();
  removeCallback(pair[1 - Mine]);
  return nullptr;
}

TEST_F(CallbackRemoval, TwoThatRemoveEachOtherDoNotWaitForever) {
  for (int round = 0; round < 200; ++round) {
    arrived = 0;
    pair[0] = addGlobalCallback(RecordFunctionCallback(removesTheOther<0>).scopes({RecordScope::FUNCTION}));
    pair[1] = addGlobalCallback(RecordFunctionCallback(removesTheOther<1>).scopes({RecordScope::USER_SCOPE}));
    auto done = std::make_shared<std::promise<void>>();
    std::future<void> finished = done->get_future();
    std::thread([done] {
      std::thread first([] { XSIGMA_PROFILE_FUNCTION(); });
      std::thread second([] { XSIGMA_PROFILE_SCOPE("f"); });
      first.join();
      second.join();
      done->set_value();
    }).detach();
    ASSERT_EQ(finished.wait_for(20s), std::future_status::ready) << "stuck in round " << round;
    EXPECT_FALSE(hasCallbacks());
  }
}

}  // namespace
}  // namespace xsigma::profiler
