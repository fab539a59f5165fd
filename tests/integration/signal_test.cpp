// Scopes in signal handlers: recorded, or counted as re-entrant where the signal arrived inside the profiler.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "capture_reading.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

std::atomic<uint64_t> handler_scopes{0};
std::atomic<uint64_t> handler_marks{0};

void openScopes(int) {
  const int saved = errno;
  {
    XSIGMA_PROFILE_SCOPE("signal.outer");
    XSIGMA_PROFILE_SCOPE("signal.inner");
    handler_scopes.fetch_add(2, std::memory_order_relaxed);
  }
  errno = saved;
}

void markToo(int signal) {
  openScopes(signal);
  recordInstant("signal.mark");
  handler_marks.fetch_add(1, std::memory_order_relaxed);
}

class Handler {
 public:
  Handler(int signal, void (*handle)(int)) : signal_(signal) {
    handler_scopes = handler_marks = 0;
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
  ~Handler() { ::signal(signal_, SIG_IGN); }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

 private:
  int signal_;
};

// Sends SIGUSR1 to the thread that made it, as fast as it goes, until destroyed or far more than enough has been sent.
class Storm {
 public:
  Storm() {
    sender_ = std::thread([this, target = pthread_self()] {
      constexpr int kEnough = 30'000;
      for (int sent = 0; sent < kEnough && !done_.load(); ++sent) {
        pthread_kill(target, SIGUSR1);
        for (int i = 0; i < 1000 && !done_.load(std::memory_order_relaxed); ++i) {
        }
      }
    });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (handler_scopes.load() == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();  // it has begun
  }
  ~Storm() {
    done_ = true;
    sender_.join();
  }
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;

 private:
  std::atomic<bool> done_{false};
  std::thread sender_;
};

constexpr uint64_t kScopes = kSanitized ? 50'000 : 500'000;

void runScopes(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    XSIGMA_PROFILE_SCOPE("signal.interrupted");
  }
}

void expectExact(const Capture& capture, uint64_t main_scopes) {
  EXPECT_TRUE(capture.damages().empty());
  const Ledger ledger = capture.ledger();
  expectLedgerAddsUp(ledger);
  EXPECT_EQ(ledger.attempted, main_scopes + handler_scopes.load());
  EXPECT_EQ(lost(ledger, LossCause::reentrant), ledger.dropped);
  EXPECT_GT(handler_scopes.load(), 0u);
  EXPECT_EQ(ledger.unfinished, 0u);
}

TEST(Signals, FromATimerAreCountedExactly) {
  const Handler handler(SIGALRM, openScopes);
  Recording recording = record();
  const itimerval often{{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &often, nullptr);
  runScopes(kScopes);
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  expectExact(recording.stop(), kScopes);
}

TEST(Signals, InAStormAreCountedExactly) {
  // Whether one comes in the middle of a scope's begin is up to the machine: storms go on until one has.
  uint64_t in_the_middle = 0;
  for (int storms = 0; storms < (kSanitized ? 1 : 200) && in_the_middle == 0; ++storms) {
    const Handler handler(SIGUSR1, openScopes);
    Recording recording = record();
    {
      const Storm storm;
      runScopes(kScopes);
    }
    const Capture capture = recording.stop();
    expectExact(capture, kScopes);
    in_the_middle = lost(capture.ledger(), LossCause::reentrant);
  }
  if (!kSanitized) {
    EXPECT_GT(in_the_middle, 0u);
  }
}

TEST(Signals, DuringTheGeneralWayAreCountedExactly) {
  const Handler handler(SIGUSR1, openScopes);
  Recording recording = record({.ordered_end = true});
  Recording second = record();
  {
    const Storm storm;
    for (uint64_t i = 0; i < kScopes / 10; ++i) {
      const std::string name = "signal.dynamic." + std::to_string(i % 3000);
      XSIGMA_PROFILE_SCOPE_DYNAMIC(name);
    }
  }
  expectExact(recording.stop(), kScopes / 10);
  expectExact(second.stop(), kScopes / 10);
}

TEST(Signals, ThatMarkDoNotCountAsScopes) {
  const Handler handler(SIGUSR1, markToo);
  Recording recording = record();
  runScopes(1);
  {
    const Storm storm;
    runScopes(kScopes - 1);
  }
  const Capture capture = recording.stop();
  expectExact(capture, kScopes);
  EXPECT_EQ(countRecords(capture, RecordKind::instant) + capture.ledger().extras_dropped, handler_marks.load());
}

TEST(Signals, DuringStartSnapshotAndStopNeverHang) {
  const Handler handler(SIGUSR1, openScopes);
  uint64_t snapshots = 0;
  {
    const Storm storm;
    for (int i = 0; i < (kSanitized ? 10 : 40); ++i) {
      Recording recording = record({.policy = CapturePolicy::ring, .byte_cap = 1 << 18});
      for (int n = 0; n < 5; ++n) {
        runScopes(1000);
        const Capture snapshot = recording.snapshot();
        EXPECT_TRUE(snapshot.damages().empty());
        snapshots += snapshot.ledger().attempted >= 1000;
      }
      const Ledger ledger = recording.stop().ledger();
      expectLedgerAddsUp(ledger);
      EXPECT_GE(ledger.attempted, 5000u);
    }
  }
  EXPECT_EQ(snapshots, (kSanitized ? 10u : 40u) * 5);
}

TEST(Signals, MayBringAThreadItsVeryFirstScope) {
  const Handler handler(SIGUSR1, openScopes);
  Recording recording = record();
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) usleep(100);
  });
  for (int i = 0; i < 10; ++i) {
    const uint64_t before = handler_scopes;
    pthread_kill(other.native_handle(), SIGUSR1);
    for (int waited = 0; handler_scopes == before && waited < 100'000; ++waited) usleep(100);
  }
  done = true;
  other.join();
  const Capture capture = recording.stop();
  EXPECT_EQ(handler_scopes.load(), 20u);
  EXPECT_EQ(capture.ledger().recorded, 20u);
  EXPECT_EQ(capture.threads().size(), 1u);
}

TEST(Signals, ThatHitAThreadAsItArrivesAreCountedExactly) {
  const Handler handler(SIGUSR1, openScopes);
  Recording recording = record();
  constexpr int kThreads = kSanitized ? 100 : 1000;
  for (int i = 0; i < kThreads; ++i) {
    std::atomic<bool> done{false};
    std::thread other([&] {
      runScopes(1);
      while (!done) {
      }
    });
    for (int n = 0; n < 20; ++n) pthread_kill(other.native_handle(), SIGUSR1);
    done = true;
    other.join();
  }
  const Ledger ledger = recording.stop().ledger();
  expectLedgerAddsUp(ledger);
  EXPECT_EQ(ledger.attempted, kThreads + handler_scopes.load());
}

TEST(Signals, OnAThreadWhoseRecordingAnotherOneStopsNeverCountTwice) {
  const Handler handler(SIGUSR1, openScopes);
  std::atomic<bool> done{false};
  std::thread busy([&] {
    const Storm storm;
    while (!done.load(std::memory_order_relaxed)) runScopes(100);
  });
  for (int i = 0; i < (kSanitized ? 30 : 100); ++i) {
    const uint64_t before = handler_scopes.load();
    Recording recording = record({.byte_cap = 1 << 20});
    usleep(500);
    const Capture capture = recording.stop();
    const Ledger ledger = capture.ledger();
    expectLedgerAddsUp(ledger);
    EXPECT_LE(lost(ledger, LossCause::reentrant), handler_scopes.load() - before + 2);
  }
  done = true;
  busy.join();
}

}  // namespace
}  // namespace xsigma::profiler::test
