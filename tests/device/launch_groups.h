// The launches that `conservation` makes: a group for each way of putting work on a GPU, counted by the program itself.
#pragma once

#include <cstdint>

#include "result_reading.h"

namespace device_tests {

// Counted here, by kernel name; copies and fills by their kind.
struct Launched {
  Counts kernels;
  Counts transfers;

  void add(const Launched& other) {
    for (const auto& [name, count] : other.kernels) kernels[name] += count;
    for (const auto& [name, count] : other.transfers) transfers[name] += count;
  }
};

// How many kernels each group is asked for.
struct LaunchPlan {
  explicit LaunchPlan(uint64_t total);
  uint64_t streams, per_thread, default_stream, graph, older_graph, cooperative, programmatic, driver, short_threads;
  uint64_t transfers;  // copies of each of four kinds, and fills
};

inline constexpr int kHostThreads = 8;
inline constexpr uint64_t kScopeLaunches = 100;  // launches inside one user scope

// What has to be there before a session begins: device memory, and a graph that the session does not see being made.
void prepareLaunches();
// All groups, one after the other; returns when the device has done everything.
Launched launchAll(const LaunchPlan& plan);

// In per_thread_stream.cu, which is compiled for per-thread default streams: on the calling thread.
void launchOnThreadStream(unsigned* counter, uint64_t launches, Launched& launched);

}  // namespace device_tests
