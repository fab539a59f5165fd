// FakeDevice: a device that does not exist, for tests: queues, a clock of its own, and a library that launches and copies.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::fake {

// Any thread may call it. Time on it is simulated: nothing waits.
class FakeDevice {
 public:
  static FakeDevice& get();

  // Asks for a kernel on a queue; it starts when the queue is free, and lasts as long as is said. Returns the correlation, 0 while nobody watches.
  uint64_t launch(std::string_view kernel, int queue, std::chrono::nanoseconds duration);
  uint64_t copy(int64_t bytes, int queue, std::chrono::nanoseconds duration);
  // A graph: what is added is launched again and again.
  uint64_t addNode();
  uint64_t launchGraph(const std::vector<uint64_t>& nodes, int queue, std::chrono::nanoseconds each);
  void allocate(uint64_t address, int64_t bytes);  // below zero: gives back
  // From now on the device's clock gains so many nanoseconds in a second; it never jumps.
  void setDrift(int64_t ns_per_second);
  // Takes a pair of the two clocks.
  void takePair();
  // From the call to the start of its work; below zero the clocks disagree.
  void setLatency(std::chrono::nanoseconds latency);
  // How many records the device can hold until they are fetched; those beyond are lost.
  void setRoom(size_t records);
  // What is not over when the device is stopped never comes.
  void setHurry(bool on);
  // It says that it has not handed over all that it had.
  void setLate(bool on);
  bool isLate();

  // What starting to watch it comes to, asked each time; it may throw. Empty: all is well.
  void setStart(std::function<Status()> start);
  // Called before what it holds is fetched, by whoever fetches.
  void setBeforeFetch(std::function<void()> act);
  // As a program marks where to begin and to end. False: nobody has asked for marks since the device was last watched.
  bool mark(bool on);

  // For the backend.
  Status start();
  void watch(const BackendRequest& request);
  void setCollecting(bool on);
  void stop();
  void fetch(BackendOutput& output);

 private:
  static constexpr int64_t kLatencyNs = 2000;
  struct Record {
    DeviceActivity activity;
    std::string name;
    std::vector<int64_t> values;
  };
  struct Pair {
    uint64_t device;
    uint64_t host;
  };

  int64_t now() const;  // on the device's clock
  uint64_t call(std::string_view name, uint32_t kind);
  void work(const DeviceActivity& like, std::string_view name, int queue, std::chrono::nanoseconds duration,
            std::vector<int64_t> values = {});
  void add(Record record);
  void pair();

  mutable std::mutex mutex_;
  bool watched_ = false;
  bool collecting_ = false;
  bool hurry_ = false;
  bool late_ = false;
  std::function<Status()> start_;
  std::function<void()> before_fetch_;
  BackendRequest request_;
  std::vector<Record> records_;
  std::vector<Pair> pairs_;
  std::map<int, int64_t> queue_free_;
  std::map<uint64_t, int64_t> live_;
  int64_t allocated_ = 0;
  uint64_t lost_ = 0;
  size_t room_ = SIZE_MAX;
  uint64_t next_correlation_ = 1;
  uint64_t next_node_ = 1;
  int64_t drift_ = 0;
  int64_t latency_ns_ = kLatencyNs;
  int64_t since_ns_ = 0;
  int64_t device_since_ = 0;
};

}  // namespace xsigma::profiler::backends::fake
