// A recording and a callback at once: neither takes anything from the other, whatever comes, goes or is thrown meanwhile.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../recorded.h"
#include "../warnings.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

std::atomic<uint64_t> starts{0};
std::atomic<uint64_t> ends{0};
std::atomic<int64_t> contexts_alive{0};
std::atomic<uint64_t> foreign_deaths{0};
std::atomic<uint64_t> calls_after_removal{0};
std::atomic<bool> registered{false};

struct Owned : ObserverContext {
  Owned() { ++contexts_alive; }
  ~Owned() override {
    --contexts_alive;
    if (std::this_thread::get_id() != maker) ++foreign_deaths;
  }
  std::thread::id maker = std::this_thread::get_id();
};

std::unique_ptr<ObserverContext> onStart(const RecordFunction&) {
  if (!registered) ++calls_after_removal;
  // Every other one leaves a context.
  return starts++ % 2 == 0 ? std::make_unique<Owned>() : nullptr;
}
void onEnd(const RecordFunction&, ObserverContext*) {
  if (!registered) ++calls_after_removal;
  ++ends;
}

class WatchedRecording : public testing::Test {
 protected:
  void SetUp() override {
    starts = ends = 0;
    contexts_alive = 0;
    foreign_deaths = calls_after_removal = 0;
    registered = true;
  }
  void TearDown() override { clearCallbacks(); }
};

void openScopes(int count) {
  for (int i = 0; i < count; ++i) {
    XSIGMA_PROFILE_SCOPE("outer");
    XSIGMA_PROFILE_SCOPE("inner");
  }
}

void expectAll(const Capture& capture, uint64_t scopes) {
  const Ledger ledger = capture.ledger();
  EXPECT_EQ(ledger.attempted, scopes);
  EXPECT_EQ(ledger.recorded, scopes);
  EXPECT_EQ(ledger.unfinished, 0u);
  EXPECT_TRUE(capture.damages().empty());
}

TEST_F(WatchedRecording, HasEveryScopeAndEveryCall) {
  addGlobalCallback(RecordFunctionCallback(onStart, onEnd));
  const Capture capture = recorded::record([] { openScopes(20'000); });
  expectAll(capture, 40'000);
  EXPECT_EQ(starts, 40'000u);
  EXPECT_EQ(ends, 40'000u);
  EXPECT_EQ(contexts_alive, 0);
  const std::vector<recorded::Scope> scopes = recorded::scopes(capture);
  ASSERT_EQ(scopes.size(), 40'000u);
  EXPECT_EQ(scopes[39'999].name, "inner");
  EXPECT_EQ(scopes[39'999].depth, 1u);
}

std::vector<std::string> seen;
std::vector<uint64_t> handles;

TEST_F(WatchedRecording, TellsTheCallbackWhatItTellsTheCapture) {
  seen.clear();
  handles.clear();
  addGlobalCallback(RecordFunctionCallback(
      [](const RecordFunction& function) -> std::unique_ptr<ObserverContext> {
        EXPECT_EQ(function.handle(), 0u);
        seen.push_back(function.name());
        return nullptr;
      },
      [](const RecordFunction& function, ObserverContext*) {
        EXPECT_EQ(function.threadId(), RecordFunction::currentThreadId());
        EXPECT_EQ(function.seqNr(), -1);
        EXPECT_EQ(function.num_inputs(), 0u);
        handles.push_back(function.handle());
        seen.push_back(std::string("end of ") + function.name() + (function.scope() == RecordScope::FUNCTION ? "()" : ""));
      }));
  const auto function = [] { XSIGMA_PROFILE_FUNCTION(); };
  const Capture capture = recorded::record([&] {
    { XSIGMA_PROFILE_SCOPE("first"); }
    { XSIGMA_PROFILE_SCOPE_DYNAMIC(std::string("second")); }
    function();
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"first", "end of first", "second", "end of second", "operator()", "end of operator()()"}));
  ASSERT_EQ(handles.size(), 3u);
  EXPECT_EQ(handles[0], recorded::scope(capture, "first").id);
  EXPECT_EQ(handles[1], recorded::scope(capture, "second").id);
  EXPECT_EQ(handles[2], recorded::scope(capture, "operator()").id);
}

TEST_F(WatchedRecording, LosesNothingWhenTheCallbackIsRemovedInsideAScope) {
  const Capture capture = recorded::record([] {
    for (int i = 0; i < 10; ++i) {
      const CallbackHandle handle = addGlobalCallback(RecordFunctionCallback(onStart, onEnd));
      openScopes(1);
      XSIGMA_PROFILE_SCOPE("cut");
      removeCallback(handle);
    }
  });
  expectAll(capture, 30);
  EXPECT_EQ(starts, 30u);
  EXPECT_EQ(ends, 20u);
  EXPECT_EQ(contexts_alive, 0);
}

TEST_F(WatchedRecording, LosesNothingWhenTheCallbackThrows) {
  const Warnings warnings;
  addGlobalCallback(RecordFunctionCallback(
      [](const RecordFunction&) -> std::unique_ptr<ObserverContext> {
        ++starts;
        throw std::runtime_error("at the start");
      },
      [](const RecordFunction&, ObserverContext* context) {
        ends += context == nullptr ? 1 : 1000;
        throw 1;
      }));
  expectAll(recorded::record([] { openScopes(100); }), 200);
  EXPECT_EQ(starts, 200u);
  EXPECT_EQ(ends, 200u);
  EXPECT_EQ(warnings.count(), 1u);
}

std::optional<Recording> second;

TEST_F(WatchedRecording, GoesOnWhenACallbackStartsAndStopsAnother) {
  addGlobalCallback(RecordFunctionCallback(
      [](const RecordFunction& function) {
        if (starts == 4) second.emplace(startRecording().value());
        XSIGMA_PROFILE_SCOPE("inside");
        return onStart(function);
      },
      [](const RecordFunction& function, ObserverContext* context) {
        onEnd(function, context);
        if (ends == 12) second.reset();
      }));
  const Capture capture = recorded::record([] { openScopes(10); });
  expectAll(capture, 40);
  EXPECT_EQ(starts, 20u);
  EXPECT_EQ(ends, 20u);
  EXPECT_EQ(contexts_alive, 0);
}

TEST_F(WatchedRecording, ObeysASwitchThatACallbackTurns) {
  addGlobalCallback(RecordFunctionCallback(
      [](const RecordFunction&) -> std::unique_ptr<ObserverContext> {
        ++starts;
        const DisableRecordFunctionGuard off;
        XSIGMA_PROFILE_SCOPE("unseen");
        return nullptr;
      },
      [](const RecordFunction&, ObserverContext*) {
        if (++ends == 5) enableRecordFunction(false);
      }));
  const Capture capture = recorded::record([] { openScopes(10); });
  enableRecordFunction(true);
  EXPECT_EQ(starts, 6u);
  EXPECT_EQ(ends, 6u);
  EXPECT_EQ(recorded::names(capture), (std::vector<std::string>{"outer", "inner", "outer", "inner", "outer", "inner"}));
  EXPECT_EQ(capture.ledger().unfinished, 0u);
}

TEST_F(WatchedRecording, CallsHalfACallback) {
  const CallbackHandle start_only = addGlobalCallback(RecordFunctionCallback(onStart));
  expectAll(recorded::record([] { openScopes(5); }), 10);
  removeCallback(start_only);
  addGlobalCallback(RecordFunctionCallback(nullptr, onEnd));
  expectAll(recorded::record([] { openScopes(5); }), 10);
  EXPECT_EQ(starts, 10u);
  EXPECT_EQ(ends, 10u);
  EXPECT_EQ(contexts_alive, 0);
}

TEST_F(WatchedRecording, SurvivesAScopeThatEndsOnAnotherThread) {
  static detail::ScopeSite site{"handed over", __FILE__, __LINE__, RecordScope::USER_SCOPE};
  addGlobalCallback(RecordFunctionCallback(onStart, onEnd));
  const Capture capture = recorded::record([] {
    auto guard = std::make_unique<detail::ScopeGuard>(site);
    std::thread([&] {
      openScopes(3);
      guard.reset();
      openScopes(3);
    }).join();
    openScopes(3);
  });
  EXPECT_EQ(capture.ledger().recorded, 19u);
  EXPECT_EQ(starts, 19u);
  EXPECT_EQ(ends, 19u);
  EXPECT_EQ(contexts_alive, 0);
}

TEST_F(WatchedRecording, OfManyThreadsStaysExactWhileTheCallbackComesAndGoes) {
  constexpr int kThreads = 3;
  constexpr int kRounds = 1500;
  constexpr uint64_t kMostScopes = 3'000'000;  // stays below the cap, however slow the rounds are
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> opened{0};
  Recording recording = startRecording().value();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (!stop && opened < kMostScopes) {
        openScopes(5);
        opened += 10;
      }
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    registered = true;
    const CallbackHandle handle = addGlobalCallback(RecordFunctionCallback(onStart, onEnd));
    if (round % 8 == 0) std::this_thread::yield();
    removeCallback(handle);
    registered = false;
    std::this_thread::yield();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  expectAll(recording.stop(), opened);
  EXPECT_EQ(calls_after_removal, 0u);
  EXPECT_EQ(contexts_alive, 0);
  EXPECT_EQ(foreign_deaths, 0u);
  EXPECT_GT(starts, 0u);
  EXPECT_LE(ends, starts);
}

std::atomic<uint64_t> handler_scopes{0};

TEST_F(WatchedRecording, CountsScopesInSignalHandlersExactly) {
  constexpr int kScopes = 50'000;
  handler_scopes = 0;
  struct sigaction action {};
  action.sa_handler = [](int) {
    XSIGMA_PROFILE_SCOPE("in a handler");
    ++handler_scopes;
  };
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  addGlobalCallback(RecordFunctionCallback(
      [](const RecordFunction&) -> std::unique_ptr<ObserverContext> {
        ++starts;
        return nullptr;
      },
      [](const RecordFunction&, ObserverContext*) { ++ends; }));
  const Capture capture = recorded::record([] {
    std::atomic<bool> done{false};
    std::thread sender([&, target = pthread_self()] {
      for (int sent = 0; sent < 20'000 && !done; ++sent) {
        pthread_kill(target, SIGUSR1);
        for (int i = 0; i < 1000 && !done; ++i) {
        }
      }
    });
    openScopes(kScopes);
    done = true;
    sender.join();
  });
  ::signal(SIGUSR1, SIG_IGN);
  const Ledger ledger = capture.ledger();
  EXPECT_GT(handler_scopes, 0u);
  EXPECT_EQ(ledger.attempted, 2u * kScopes + handler_scopes);
  EXPECT_EQ(ledger.recorded + ledger.dropped, ledger.attempted);
  EXPECT_EQ(ledger.unfinished, 0u);
  EXPECT_EQ(starts, ends);
  EXPECT_GE(starts, 2u * kScopes);
}

}  // namespace
}  // namespace xsigma::profiler
