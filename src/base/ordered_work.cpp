#include "base/ordered_work.h"

#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/quiet_thread.h"

namespace xsigma::profiler::base {

unsigned usefulWorkers() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int found = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return static_cast<unsigned>(std::clamp(found, 1, 8));
}

void runOnWorkers(unsigned workers, const std::function<void(unsigned)>& body) {
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto guarded = [&](unsigned worker) {
    try {
      body(worker);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  try {
    for (unsigned worker = 1; worker < workers; ++worker) {
      threads.push_back(startQuietThread("xsp-work", [&guarded, worker] { guarded(worker); }));
    }
  } catch (const std::system_error&) {
    // no more threads to be had: those that there are do the work
  }
  guarded(0);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

namespace {

struct Schedule {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<size_t> lane_turn;  // the next step that may be taken of each lane
  std::vector<bool> lane_ended;
  std::vector<bool> ready;  // by place
  std::vector<bool> filled;
  size_t next_step = 0;
  size_t next_give = 0;
  size_t ended_lanes = 0;
  bool stopped = false;
};

}  // namespace

void runOrdered(size_t lanes, unsigned workers, const OrderedSteps& steps) {
  if (lanes == 0) return;
  const size_t places = orderedPlaces(workers);
  Schedule schedule;
  schedule.lane_turn.resize(lanes);
  for (size_t lane = 0; lane < lanes; ++lane) schedule.lane_turn[lane] = lane;
  schedule.lane_ended.resize(lanes);
  schedule.ready.resize(places);
  schedule.filled.resize(places);

  runOnWorkers(workers, [&](unsigned worker) {
    std::unique_lock lock(schedule.mutex);
    const auto stop = [&] {
      schedule.stopped = true;
      schedule.changed.notify_all();
    };
    while (true) {
      schedule.changed.wait(
          lock, [&] { return schedule.stopped || schedule.ended_lanes == lanes || schedule.next_step < schedule.next_give + places; });
      if (schedule.stopped || schedule.ended_lanes == lanes) return;
      const size_t step = schedule.next_step++;
      const size_t lane = step % lanes;
      const size_t place = step % places;
      schedule.changed.wait(lock, [&] { return schedule.stopped || schedule.lane_turn[lane] == step; });
      if (schedule.stopped) return;
      bool filled = false;
      try {
        if (!schedule.lane_ended[lane]) {
          lock.unlock();
          filled = steps.take(lane, place);
          lock.lock();
          if (!filled) {
            schedule.lane_ended[lane] = true;
            ++schedule.ended_lanes;
          }
        }
        schedule.lane_turn[lane] = step + lanes;
        schedule.changed.notify_all();
        if (filled) {
          lock.unlock();
          steps.work(worker, place);
          lock.lock();
        }
        schedule.filled[place] = filled;
        schedule.ready[place] = true;
        // Whoever completes the next in order gives out all that are complete.
        if (step == schedule.next_give) {
          while (!schedule.stopped && schedule.ready[schedule.next_give % places]) {
            const size_t giving = schedule.next_give % places;
            if (schedule.filled[giving]) {
              lock.unlock();
              const bool go_on = steps.give(giving);
              lock.lock();
              if (!go_on) stop();
            }
            schedule.ready[giving] = false;
            ++schedule.next_give;
          }
          schedule.changed.notify_all();
        }
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        stop();
        throw;
      }
    }
  });
}

}  // namespace xsigma::profiler::base
