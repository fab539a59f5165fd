#include "backends/fake/fake_device.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/thread_name.h"

namespace xsigma::profiler::backends::fake {

using libkineto::ActivityType;

namespace {

constexpr uint8_t kDeviceClock = 1;
constexpr int64_t kDeviceEpochNs = 7'000'000'000;  // its clock began some other time
enum CallKind : uint32_t { kLaunch = 1, kCopy, kGraphLaunch, kAllocate };

}  // namespace

FakeDevice& FakeDevice::get() {
  static FakeDevice& one = *new FakeDevice;
  return one;
}

int64_t FakeDevice::now() const {
  const int64_t passed = base::monotonicNs() - since_ns_;
  return device_since_ + passed + static_cast<int64_t>(static_cast<double>(passed) * static_cast<double>(drift_) / 1e9);
}

void FakeDevice::setDrift(int64_t ns_per_second) {
  const std::lock_guard lock(mutex_);
  device_since_ = now();
  since_ns_ = base::monotonicNs();
  drift_ = ns_per_second;
}

void FakeDevice::pair() {
  if (!watched_) return;
  const uint64_t host = request_.host_ticks();
  pairs_.push_back({static_cast<uint64_t>(now()), host});
}

void FakeDevice::takePair() {
  const std::lock_guard lock(mutex_);
  pair();
}

void FakeDevice::setRoom(size_t records) {
  const std::lock_guard lock(mutex_);
  room_ = records;
}

void FakeDevice::setLatency(std::chrono::nanoseconds latency) {
  const std::lock_guard lock(mutex_);
  latency_ns_ = latency.count();
}

void FakeDevice::setHurry(bool on) {
  const std::lock_guard lock(mutex_);
  hurry_ = on;
}

void FakeDevice::setLate(bool on) {
  const std::lock_guard lock(mutex_);
  late_ = on;
}

bool FakeDevice::isLate() {
  const std::lock_guard lock(mutex_);
  return late_;
}

void FakeDevice::setStart(std::function<Status()> start) {
  const std::lock_guard lock(mutex_);
  start_ = std::move(start);
}

void FakeDevice::setBeforeFetch(std::function<void()> act) {
  const std::lock_guard lock(mutex_);
  before_fetch_ = std::move(act);
}

bool FakeDevice::mark(bool on) {
  std::unique_lock lock(mutex_);
  const auto marked = request_.marked;
  lock.unlock();  // whoever is told may switch the device
  if (marked) marked(on);
  return marked != nullptr;
}

Status FakeDevice::start() {
  const std::lock_guard lock(mutex_);
  return start_ ? start_() : Status();
}

void FakeDevice::add(Record record) {
  if (!watched_ || !collecting_) return;
  if (records_.size() >= room_) {
    ++lost_;
    return;
  }
  records_.push_back(std::move(record));
}

uint64_t FakeDevice::call(std::string_view name, uint32_t kind) {
  Record record;
  record.name = name;
  DeviceActivity& activity = record.activity;
  activity.role = DeviceRole::call;
  activity.type = ActivityType::CUDA_RUNTIME;
  activity.start = request_.host_ticks();
  activity.process_id = getpid();
  activity.thread_id = syscall(SYS_gettid);
  activity.correlation = next_correlation_++;
  activity.kind = kind;
  activity.end = request_.host_ticks();
  const uint64_t correlation = activity.correlation;
  record.values = {static_cast<int64_t>(kind), static_cast<int64_t>(correlation)};
  add(std::move(record));
  return correlation;
}

void FakeDevice::work(const DeviceActivity& like, std::string_view name, int queue, std::chrono::nanoseconds duration,
                      std::vector<int64_t> values) {
  Record record;
  record.activity = like;
  record.name = name;
  record.values = std::move(values);
  DeviceActivity& activity = record.activity;
  int64_t& free = queue_free_[queue];
  const int64_t start = std::max(free, now() + latency_ns_);
  free = start + duration.count();
  activity.clock = kDeviceClock;
  activity.start = static_cast<uint64_t>(start);
  activity.end = static_cast<uint64_t>(free);
  activity.process_id = 0;
  activity.thread_id = queue;
  add(std::move(record));
}

uint64_t FakeDevice::launch(std::string_view kernel, int queue, std::chrono::nanoseconds duration) {
  const std::lock_guard lock(mutex_);
  if (!watched_) return 0;
  DeviceActivity like;
  like.correlation = call("fakeLaunch", kLaunch);
  work(like, kernel, queue, duration, {queue, static_cast<int64_t>(like.correlation)});
  return like.correlation;
}

uint64_t FakeDevice::copy(int64_t bytes, int queue, std::chrono::nanoseconds duration) {
  const std::lock_guard lock(mutex_);
  if (!watched_) return 0;
  DeviceActivity like;
  like.type = ActivityType::GPU_MEMCPY;
  like.correlation = call("fakeCopy", kCopy);
  work(like, "Memcpy HtoD (Pageable -> Device)", queue, duration, {queue, static_cast<int64_t>(like.correlation), bytes, bytes});
  return like.correlation;
}

uint64_t FakeDevice::addNode() {
  const std::lock_guard lock(mutex_);
  if (!watched_) return 0;
  Record record;
  record.activity.role = DeviceRole::graph_node;
  record.activity.node = next_node_++;
  record.activity.process_id = getpid();
  record.activity.thread_id = syscall(SYS_gettid);
  record.activity.start = record.activity.end = request_.host_ticks();
  const uint64_t node = record.activity.node;
  add(std::move(record));
  return node;
}

uint64_t FakeDevice::launchGraph(const std::vector<uint64_t>& nodes, int queue, std::chrono::nanoseconds each) {
  const std::lock_guard lock(mutex_);
  if (!watched_) return 0;
  DeviceActivity like;
  like.correlation = call("fakeGraphLaunch", kGraphLaunch);
  for (const uint64_t node : nodes) {
    like.node = node;
    work(like, "graph_kernel", queue, each, {queue, static_cast<int64_t>(like.correlation)});
  }
  return like.correlation;
}

void FakeDevice::allocate(uint64_t address, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!watched_) return;
  if (bytes < 0) {
    allocated_ -= std::exchange(live_[address], 0);
  } else {
    live_[address] = bytes;
    allocated_ += bytes;
  }
  Record record;
  record.activity.role = DeviceRole::memory;
  record.activity.correlation = call(bytes < 0 ? "fakeFree" : "fakeMalloc", kAllocate);
  record.activity.start = record.activity.end = request_.host_ticks();
  record.values = {static_cast<int64_t>(address), bytes, allocated_, allocated_};
  if (request_.memory) add(std::move(record));
}

void FakeDevice::watch(const BackendRequest& request) {
  const std::lock_guard lock(mutex_);
  request_ = request;
  watched_ = collecting_ = true;
  records_.clear();
  pairs_.clear();
  queue_free_.clear();
  live_.clear();
  allocated_ = 0;
  lost_ = 0;
  device_since_ = kDeviceEpochNs;
  since_ns_ = base::monotonicNs();
  pair();
}

void FakeDevice::setCollecting(bool on) {
  const std::lock_guard lock(mutex_);
  collecting_ = on;
}

void FakeDevice::stop() {
  const std::lock_guard lock(mutex_);
  pair();
  watched_ = false;
}

void FakeDevice::fetch(BackendOutput& output) {
  std::unique_lock lock(mutex_);
  if (const auto act = before_fetch_) {
    lock.unlock();
    act();
    lock.lock();
  }
  const auto stopped_at = static_cast<int64_t>(pairs_.empty() ? 0 : pairs_.back().device);
  for (const Pair& each : pairs_) output.clockPair(kDeviceClock, each.device, each.host);
  output.row(0, -1, "GPU 0 (a simulated device)", 5'000'000);
  for (const auto& [queue, ignored] : queue_free_) output.row(0, queue, "stream " + std::to_string(queue) + " ", queue);
  output.property("deviceProperties", R"({"id": 0, "name": "a simulated device", "numSms": 4})");
  std::set<int64_t> threads;
  for (const Record& record : records_) {
    DeviceActivity activity = record.activity;
    if (activity.role == DeviceRole::call && threads.insert(activity.thread_id).second) {
      output.row(kThisProcess, activity.thread_id, base::threadName(static_cast<uint32_t>(activity.thread_id)), 0);
    }
    if (hurry_ && activity.role == DeviceRole::work && static_cast<int64_t>(activity.end) > stopped_at) continue;
    activity.name = output.text(record.name);
    switch (activity.role) {
      case DeviceRole::call: activity.form = output.text("\"cbid\": \x01, \"correlation\": \x01"); break;
      case DeviceRole::work:
        activity.form = output.text(activity.type == ActivityType::GPU_MEMCPY
                                        ? "\"device\": 0, \"context\": 1, \"stream\": \x01, \"correlation\": \x01, \"bytes\": \x01, "
                                          "\"memory bandwidth (GB/s)\": \x04"
                                        : "\"device\": 0, \"context\": 1, \"stream\": \x01, \"correlation\": \x01");
        break;
      default: break;
    }
    activity.values = record.values.data();
    activity.value_count = static_cast<uint32_t>(record.values.size());
    output.put(activity);
  }
  output.lost(DeviceLoss::buffers_full, lost_);
}

}  // namespace xsigma::profiler::backends::fake
