#include "base/behind.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <thread>

namespace xsigma::profiler::base {
namespace {

constexpr std::chrono::seconds kMostAtExit{5};

// How many run, and in which process: a forked child has none of its parent's.
constinit std::atomic<unsigned> running{0};
constinit std::atomic<pid_t> running_in{0};

void waitAtExit() {
  if (running_in.load() != getpid()) return;
  const auto end = std::chrono::steady_clock::now() + kMostAtExit;
  while (running.load() != 0 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

void runBehind(std::function<void()> work) {
  static const int registered = std::atexit(waitAtExit);
  static_cast<void>(registered);
  if (running_in.exchange(getpid()) != getpid()) running.store(0);
  ++running;
  const auto run = [work = std::move(work)] {
    work();
    --running;
  };
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  try {
    std::thread(run).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  } catch (const std::system_error&) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    run();
  }
}

}  // namespace xsigma::profiler::base
