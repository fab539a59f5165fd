#include "base/within.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>

#include "base/quiet_thread.h"

namespace xsigma::profiler::base {

bool endsWithin(std::chrono::milliseconds most, const char* name, std::function<void()> work) {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
  };
  const auto state = std::make_shared<State>();
  try {
    startQuietThread(name, [state, work] {
      try {
        work();
      } catch (const std::bad_alloc&) {  // it has ended, if not well
      }
      const std::lock_guard<std::mutex> lock(state->mutex);
      state->ended = true;
      state->changed.notify_all();
    }).detach();
  } catch (const std::system_error&) {
    work();
    return true;
  }
  std::unique_lock<std::mutex> lock(state->mutex);
  return state->changed.wait_for(lock, most, [&] { return state->ended; });
}

}  // namespace xsigma::profiler::base
