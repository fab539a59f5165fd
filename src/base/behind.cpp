#include "base/behind.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>

#include "base/quiet_thread.h"

namespace xsigma::profiler::base {
namespace {

constexpr std::chrono::seconds kMostAtExit{5};

// How many run, in the lower half, and in which process, in the upper: a forked child has none of its parent's.
constinit std::atomic<uint64_t> running{0};
constinit std::atomic<bool> waits_at_exit{false};

uint64_t noneOfThisProcess() noexcept { return static_cast<uint64_t>(getpid()) << 32; }

void countOne() noexcept {
  const uint64_t none = noneOfThisProcess();
  uint64_t before = running.load();
  while (!running.compare_exchange_weak(before, (before >> 32 == none >> 32 ? before : none) + 1)) {
  }
}

void waitAtExit() {
  const uint64_t none = noneOfThisProcess();
  const auto end = std::chrono::steady_clock::now() + kMostAtExit;
  for (uint64_t now = running.load(); now >> 32 == none >> 32 && now != none; now = running.load()) {
    if (std::chrono::steady_clock::now() >= end) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

void runBehind(std::function<void()> work) {
  if (!waits_at_exit.exchange(true)) std::atexit(waitAtExit);
  countOne();
  const auto run = [work = std::move(work)] {
    work();
    running.fetch_sub(1);
  };
  try {
    startQuietThread("xsp-behind", run).detach();
  } catch (const std::exception&) {
    run();
  }
}

}  // namespace xsigma::profiler::base
