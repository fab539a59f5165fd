// Threads open ranges while callbacks come and go thousands of times: no call ever comes after its removal.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

constexpr int kCallbacks = 4;
constexpr int kThreads = 3;
constexpr int kRounds = 3000;

struct Registration {
  std::atomic<int> number{0};  // which one this is; 0 = there is none
  std::atomic<uint64_t> starts{0};
  std::atomic<uint64_t> ends{0};
};

std::array<Registration, kCallbacks> registrations;
std::atomic<uint64_t> calls_after_removal{0};
std::atomic<uint64_t> ends_of_a_cut_range{0};
std::atomic<uint64_t> foreign_deaths{0};
std::atomic<int64_t> contexts_alive{0};

struct Context : ObserverContext {
  explicit Context(int n) : number(n) { ++contexts_alive; }
  ~Context() override {
    --contexts_alive;
    if (std::this_thread::get_id() != maker) ++foreign_deaths;
  }
  int number;
  std::thread::id maker = std::this_thread::get_id();
};

template <int N>
std::unique_ptr<ObserverContext> onStart(const RecordFunction&) {
  const int number = registrations[N].number;
  if (number == 0) ++calls_after_removal;
  ++registrations[N].starts;
  auto context = std::make_unique<Context>(number);
  if (registrations[N].number != number) ++calls_after_removal;
  return context;
}

template <int N>
void onEnd(const RecordFunction&, ObserverContext* context) {
  const int number = registrations[N].number;
  if (number == 0) ++calls_after_removal;
  if (static_cast<Context*>(context)->number != number) ++ends_of_a_cut_range;
  ++registrations[N].ends;
}

const std::array<RecordFunctionCallback, kCallbacks> callbacks = {
    RecordFunctionCallback(onStart<0>, onEnd<0>), RecordFunctionCallback(onStart<1>, onEnd<1>),
    RecordFunctionCallback(onStart<2>, onEnd<2>), RecordFunctionCallback(onStart<3>, onEnd<3>)};

void openRanges(const std::atomic<bool>& stop) {
  while (!stop) {
    XSIGMA_PROFILE_SCOPE("outer");
    XSIGMA_RECORD_FUNCTION("middle", {1, 2});
    for (int i = 0; i < 10; ++i) {
      XSIGMA_PROFILE_SCOPE("leaf");
    }
  }
}

TEST(CallbackRemovalStress, NoCallComesAfterItsRemoval) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&] { openRanges(stop); });

  std::array<CallbackHandle, kCallbacks> handles{};
  for (int round = 1; round <= kRounds; ++round) {
    const auto which = static_cast<size_t>(round) % kCallbacks;
    if (handles[which] != INVALID_CALLBACK_HANDLE) {
      removeCallback(handles[which]);
      registrations[which].number = 0;
    }
    registrations[which].number = round;
    handles[which] = addGlobalCallback(callbacks[which]);
    if (round % 8 == 0) std::this_thread::yield();
  }
  for (size_t i = 0; i < kCallbacks; ++i) {
    while (registrations[i].ends == 0) std::this_thread::yield();
    removeCallback(handles[i]);
    registrations[i].number = 0;
  }
  const uint64_t starts_then = registrations[0].starts;
  stop = true;
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(calls_after_removal, 0u);
  EXPECT_EQ(ends_of_a_cut_range, 0u);
  EXPECT_EQ(registrations[0].starts, starts_then);
  EXPECT_EQ(contexts_alive, 0);
  EXPECT_EQ(foreign_deaths, 0u);
  for (const Registration& each : registrations) EXPECT_LE(each.ends, each.starts);
  EXPECT_FALSE(hasCallbacks());
}

TEST(CallbackRemovalStress, ThreadsMayRegisterTheirOwnAllAtOnce) {
  static std::atomic<uint64_t> local_starts{0};
  local_starts = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 500; ++round) {
        const CallbackHandle handle =
            addThreadLocalCallback(RecordFunctionCallback([](const RecordFunction&) -> std::unique_ptr<ObserverContext> {
              ++local_starts;
              return nullptr;
            }));
        { XSIGMA_PROFILE_SCOPE("seen once"); }
        removeCallback(handle);
        XSIGMA_PROFILE_SCOPE("not seen");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(local_starts, 500u * kThreads);
}

}  // namespace
}  // namespace xsigma::profiler
