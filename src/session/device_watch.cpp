#include "session/device_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/ticks.h"
#include "collect/clock_choice.h"

namespace xsigma::profiler::session {

using Clock = std::chrono::steady_clock;
using libkineto::ActivityType;

namespace {

constexpr std::chrono::seconds kDrainDeadline{5};
constexpr const char* kBackendsVariable = "XSIGMA_PROFILER_BACKENDS";
using Device = profiler::ActivityType;

uint64_t ticksOfCounter() noexcept { return base::readTicks(); }
uint64_t ticksOfClock() noexcept { return static_cast<uint64_t>(base::monotonicNs()); }

// Who watches devices in this process: one session at a time.
struct Ownership {
  std::mutex mutex;
  std::condition_variable changed;
  int process_id = 0;  // 0 = nobody
  bool draining = false;

  Status take() {
    std::unique_lock lock(mutex);
    if (process_id == getpid() && draining) changed.wait_for(lock, kDrainDeadline, [this] { return process_id == 0; });
    if (process_id == getpid()) {
      return {StatusCode::busy,
              "another session of this process watches the device; one at a time can. Stop that one first, or leave the device out of the "
              "activities"};
    }
    process_id = getpid();
    draining = false;
    return {};
  }
  void markDraining() {
    const std::lock_guard lock(mutex);
    draining = true;
  }
  void giveBack() {
    const std::lock_guard lock(mutex);
    process_id = 0;
    changed.notify_all();
  }
};
Ownership& ownership() {
  static Ownership& one = *new Ownership;  // never destroyed: a session may outlive main
  return one;
}

bool isNamed(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == name) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

// The backend for a device, or why there is none.
Expected<Backend*> choose(Device device, bool fallback) {
  const char* const named = std::getenv(kBackendsVariable);
  std::string reasons;
  for (Backend* const each : allBackends()) {
    if (each->device() != actToString(device) || each->isFallback() != fallback) continue;
    if (named != nullptr && !isNamed(named, each->name())) {
      reasons += fmt::format("{}{}: {}={} leaves it out", reasons.empty() ? "" : "; ", each->name(), kBackendsVariable, named);
      continue;
    }
    const Status status = each->available();
    if (status) return each;
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", each->name(), status.message());
  }
  return Status(StatusCode::unsupported, reasons.empty() ? "no backend of this build can" : reasons);
}

std::vector<Device> devicesOf(const SessionPlan& plan) {
  std::vector<Device> devices;
  std::copy_if(plan.activities.begin(), plan.activities.end(), std::back_inserter(devices),
               [](Device each) { return each != Device::CPU; });
  return devices;
}

bool wantsFallback(const SessionPlan& plan) { return plan.config.state == ProfilerState::KINETO_GPU_FALLBACK; }

BackendRequest requestOf(const SessionPlan& plan, bool counter_is_clock) {
  const ExperimentalConfig& wanted = plan.config.experimental_config;
  BackendRequest request;
  if (wanted.enable_cuda_sync_events) {
    request.activities = {ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY, ActivityType::GPU_MEMSET, ActivityType::CUDA_RUNTIME,
                          ActivityType::CUDA_DRIVER,       ActivityType::OVERHEAD,   ActivityType::CUDA_SYNC,  ActivityType::CUDA_EVENT};
  }
  request.buffer_bytes = DeviceWatch::bufferBytes(plan);
  request.host_ticks = counter_is_clock ? ticksOfClock : ticksOfCounter;
  request.whole_graphs = wanted.whole_graphs;
  request.memory = plan.config.profile_memory;
  request.metrics = wanted.profiler_metrics;
  request.metrics_per_kernel = wanted.profiler_measure_per_kernel;
  request.sample_interval = wanted.profiler_sample_interval;
  request.process_id = getpid();
  return request;
}

}  // namespace

struct DeviceWatch::Runs {
  ~Runs() { drain(); }

  void add(std::unique_ptr<BackendRun> run) {
    const std::lock_guard lock(mutex);
    all.push_back(std::move(run));
  }
  bool empty() { return now().empty(); }
  // Vendors are never called under our lock.
  std::vector<std::shared_ptr<BackendRun>> now() {
    const std::lock_guard lock(mutex);
    return all;
  }
  void setCollecting(bool on) {
    for (const std::shared_ptr<BackendRun>& run : now()) run->setCollecting(on);
  }
  void stop() {
    if (stopped.exchange(true)) return;
    ownership().markDraining();
    for (const std::shared_ptr<BackendRun>& run : now()) run->stop();
  }
  void drain() {
    if (empty()) return;
    stop();
    for (const std::shared_ptr<BackendRun>& run : now()) run->drain(Clock::now() + kDrainDeadline);
    {
      const std::lock_guard lock(mutex);
      all.clear();
    }
    ownership().giveBack();
  }

 private:
  std::mutex mutex;
  std::vector<std::shared_ptr<BackendRun>> all;
  std::atomic<bool> stopped{false};
};

size_t DeviceWatch::bufferBytes(const SessionPlan& plan) {
  constexpr size_t kMost = size_t{64} << 20;
  constexpr size_t kPart = 8;
  if (devicesOf(plan).empty()) return 0;
  const CaptureOptions& options = plan.config.experimental_config.capture;
  return options.policy == CapturePolicy::unbounded ? kMost : std::min(kMost, options.byte_cap / kPart);
}

Status DeviceWatch::prepare(const SessionPlan& plan, bool counter_is_clock) {
  for (const Device device : devicesOf(plan)) {
    const Expected<Backend*> backend = choose(device, wantsFallback(plan));
    if (!backend) continue;  // start() says so
    if (Status status = (*backend)->prepare(requestOf(plan, counter_is_clock)); !status) return status;
  }
  return {};
}

Expected<std::unique_ptr<DeviceWatch>> DeviceWatch::start(const SessionPlan& plan, collect::LiveCapture& live) {
  const std::vector<Device> devices = devicesOf(plan);
  if (devices.empty()) return std::unique_ptr<DeviceWatch>();
  const Expected<bool> counter_is_clock = collect::ticksAreClock();
  if (!counter_is_clock) return counter_is_clock.status();
  // Nothing else is recorded, or what cannot be done without was asked for.
  const bool must = plan.activities.count(Device::CPU) == 0 || !plan.config.experimental_config.profiler_metrics.empty();
  auto runs = std::make_shared<Runs>();
  std::string report;
  bool owned = false;
  for (const Device device : devices) {
    Expected<Backend*> backend = choose(device, wantsFallback(plan));
    Status status = backend.status();
    if (backend && !owned) {
      if (status = ownership().take(); !status) return status;
      owned = true;
    }
    const Clock::time_point begun = Clock::now();
    if (backend) {
      BackendRequest request = requestOf(plan, *counter_is_clock);
      if (plan.between_marks) {
        request.marked = [&live, watched = std::weak_ptr<Runs>(runs)](bool on) {
          const std::shared_ptr<Runs> running = watched.lock();
          if (running == nullptr) return;
          live.setCollecting(on);
          running->setCollecting(on);
        };
      }
      Expected<std::unique_ptr<BackendRun>> run = (*backend)->start(request, live.openDevices((*backend)->name()));
      if (run) {
        if (plan.between_marks) (*run)->setCollecting(false);
        runs->add(std::move(*run));
      } else {
        status = run.status();
      }
    }
    if (!status) {
      if (must) {
        if (owned && runs->empty()) ownership().giveBack();
        return Status(status.code(), fmt::format("{} cannot be recorded: {}", actToString(device), status.message()));
      }
      base::warn(fmt::format("{} is not recorded: {}", actToString(device), status.message()));
    }
    const auto ms = std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
    report += fmt::format("{}\"{}\": {{\"recorded\": {}, {}}}", report.empty() ? "" : ", ", actToString(device), status.ok(),
                          status.ok() ? fmt::format("\"backend\": {}, \"start_ms\": {:.3f}", base::quoted((*backend)->name()), ms)
                                      : fmt::format("\"why\": {}", base::quoted(status.message())));
  }
  live.addProperty("xsigmaDevices", "{" + report + "}");
  if (plan.between_marks) live.setCollecting(false);
  if (!runs->empty()) return std::unique_ptr<DeviceWatch>(new DeviceWatch(std::move(runs)));
  if (owned) ownership().giveBack();
  return std::unique_ptr<DeviceWatch>();
}

DeviceWatch::~DeviceWatch() = default;

void DeviceWatch::setCollecting(bool on) noexcept { runs_->setCollecting(on); }

std::function<void()> DeviceWatch::stop() noexcept {
  runs_->stop();
  return [runs = runs_] { runs->drain(); };
}

}  // namespace xsigma::profiler::session
