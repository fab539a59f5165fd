#include "base/behind.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>

namespace xsigma::profiler::base {
namespace {

constexpr std::chrono::seconds kMostAtExit{5};

// Never destroyed: the work may outlive main.
struct Running {
  std::mutex mutex;
  std::condition_variable changed;
  unsigned count = 0;
  pid_t process_id = 0;
};
Running& running() {
  static Running& one = *new Running;
  return one;
}

void waitAtExit() {
  Running& all = running();
  if (all.process_id != getpid()) return;
  std::unique_lock lock(all.mutex);
  all.changed.wait_for(lock, kMostAtExit, [&] { return all.count == 0; });
}

}  // namespace

void runBehind(std::function<void()> work) {
  Running& all = running();
  {
    static const int registered = std::atexit(waitAtExit);
    static_cast<void>(registered);
    const std::lock_guard lock(all.mutex);
    all.process_id = getpid();
    ++all.count;
  }
  const auto run = [work = std::move(work), &all] {
    work();
    const std::lock_guard lock(all.mutex);
    --all.count;
    all.changed.notify_all();
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
