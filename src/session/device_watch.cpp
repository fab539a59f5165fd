#include "session/device_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <utility>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/ticks.h"
#include "collect/clock_choice.h"
#include "session/device_claim.h"

namespace xsigma::profiler::session {

using Clock = std::chrono::steady_clock;
using libkineto::ActivityType;

namespace {

constexpr std::chrono::seconds kDrainDeadline{5};
constexpr const char* kBackendsVariable = "XSIGMA_PROFILER_BACKENDS";
using Device = profiler::ActivityType;

uint64_t ticksOfCounter() noexcept { return base::readTicks(); }
uint64_t ticksOfClock() noexcept { return static_cast<uint64_t>(base::monotonicNs()); }

bool isNamed(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == name) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

// Backends may be anybody's: what they throw is an error like those that they return.
template <typename Call>
auto guarded(const Backend& backend, Call call) -> decltype(call()) {
  std::string thrown = "something that is no std::exception";
  try {
    return call();
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (...) {
  }
  return Status(StatusCode::unsupported, fmt::format("the backend {} threw: {}", backend.name(), thrown));
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
    const Status status = guarded(*each, [&] { return each->available(); });
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

// Nothing else is recorded, or what cannot be done without was asked for.
bool isNeeded(const SessionPlan& plan) {
  return plan.activities.count(Device::CPU) == 0 || !plan.config.experimental_config.profiler_metrics.empty();
}

Status cannot(Device device, const Status& why) {
  return {why.code(), fmt::format("{} cannot be recorded: {}", actToString(device), why.message())};
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

// The runs of a session, and the claim that they have. In a forked child they are neither called nor destroyed: backends have threads that are not there,
// and locks that those may have held.
class DeviceWatch::Runs {
 public:
  static std::shared_ptr<Runs> make() {
    return {new Runs, [](Runs* runs) {
              if (!runs->isForked()) {
                delete runs;
              } else {
                runs->inherited_before_ = inherited.exchange(runs);
              }
            }};
  }

  // One for all of them.
  Status claim() {
    if (claim_.holds()) return {};
    Expected<DeviceClaim> taken = DeviceClaim::take();
    if (taken) claim_ = std::move(*taken);
    return taken.status();
  }
  void add(std::unique_ptr<BackendRun> run, std::shared_ptr<collect::DeviceOutput> output) {
    const std::lock_guard lock(mutex_);
    all_.push_back({std::move(run), std::move(output)});
  }
  bool empty() { return now().empty(); }
  void setCollecting(bool on) {
    if (stopped_.load() || isForked()) return;
    for (const Watched& each : now()) each.run->setCollecting(on);
  }
  void stop() {
    if (isForked() || stopped_.exchange(true)) return;
    {
      const std::lock_guard lock(mutex_);
      claim_.willEndSoon();
    }
    for (const Watched& each : now()) each.run->stop();
  }
  void drain() {
    if (isForked()) return;
    stop();
    for (const Watched& each : now()) {
      if (each.run->drain(Clock::now() + kDrainDeadline)) continue;
      each.output->lost(DeviceLoss::too_late, 1);
      base::warn(fmt::format("a device did not hand over all that it had recorded within {} s: the rest is not in the capture",
                             kDrainDeadline.count()));
    }
    std::vector<Watched> ended;
    {
      const std::lock_guard lock(mutex_);
      ended.swap(all_);
    }
    ended.clear();
    const std::lock_guard lock(mutex_);
    claim_.giveBack();
  }

 private:
  struct Watched {
    std::shared_ptr<BackendRun> run;
    std::shared_ptr<collect::DeviceOutput> output;
  };
  static constinit std::atomic<Runs*> inherited;  // of a parent; kept where leak checkers see them

  Runs() = default;
  ~Runs() { drain(); }
  bool isForked() const noexcept { return getpid() != process_id_; }
  // Vendors are never called under our lock.
  std::vector<Watched> now() {
    const std::lock_guard lock(mutex_);
    return all_;
  }

  const pid_t process_id_ = getpid();
  DeviceClaim claim_;
  std::mutex mutex_;
  std::vector<Watched> all_;
  std::atomic<bool> stopped_{false};
  Runs* inherited_before_ = nullptr;
};
constinit std::atomic<DeviceWatch::Runs*> DeviceWatch::Runs::inherited{nullptr};

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
    const Status status = guarded(**backend, [&] { return (*backend)->prepare(requestOf(plan, counter_is_clock)); });
    if (!status && isNeeded(plan)) return cannot(device, status);
  }
  return {};
}

Status DeviceWatch::watch(Backend& backend, BackendRequest request, bool between_marks, const std::shared_ptr<Runs>& runs,
                          const std::shared_ptr<collect::LiveCapture>& live) {
  if (between_marks) {
    request.marked = [held = std::weak_ptr(live), watched = std::weak_ptr(runs)](bool on) {
      const std::shared_ptr<Runs> running = watched.lock();
      const std::shared_ptr<collect::LiveCapture> recording = held.lock();
      if (running == nullptr || recording == nullptr) return;
      recording->setCollecting(on);
      running->setCollecting(on);
    };
  }
  const std::shared_ptr<collect::DeviceOutput> output = live->openDevices(backend.name());
  Expected<std::unique_ptr<BackendRun>> run = guarded(backend, [&] { return backend.start(request, output); });
  if (!run) {
    live->dropDevices(output);
    return run.status();
  }
  output->open();
  if (between_marks) (*run)->setCollecting(false);
  runs->add(std::move(*run), output);
  return {};
}

Expected<std::unique_ptr<DeviceWatch>> DeviceWatch::start(const SessionPlan& plan, const std::shared_ptr<collect::LiveCapture>& live) {
  const std::vector<Device> devices = devicesOf(plan);
  if (devices.empty()) return std::unique_ptr<DeviceWatch>();
  const Expected<bool> counter_is_clock = collect::ticksAreClock();
  if (!counter_is_clock) return counter_is_clock.status();
  const std::shared_ptr<Runs> runs = Runs::make();
  std::string report;
  for (const Device device : devices) {
    Expected<Backend*> backend = choose(device, wantsFallback(plan));
    if (backend) {
      if (Status status = runs->claim(); !status) return status;
    }
    const Clock::time_point begun = Clock::now();
    const Status status = backend ? watch(**backend, requestOf(plan, *counter_is_clock), plan.between_marks, runs, live) : backend.status();
    if (!status) {
      if (isNeeded(plan)) return cannot(device, status);
      base::warn(fmt::format("{} is not recorded: {}", actToString(device), status.message()));
    }
    const auto ms = std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
    report += fmt::format("{}\"{}\": {{\"recorded\": {}, {}}}", report.empty() ? "" : ", ", actToString(device), status.ok(),
                          status.ok() ? fmt::format("\"backend\": {}, \"start_ms\": {:.3f}", base::quoted((*backend)->name()), ms)
                                      : fmt::format("\"why\": {}", base::quoted(status.message())));
  }
  live->addProperty("xsigmaDevices", "{" + report + "}");
  if (plan.between_marks) live->setCollecting(false);
  if (runs->empty()) return std::unique_ptr<DeviceWatch>();
  return std::unique_ptr<DeviceWatch>(new DeviceWatch(runs));
}

DeviceWatch::~DeviceWatch() = default;

void DeviceWatch::setCollecting(bool on) noexcept { runs_->setCollecting(on); }

std::function<void()> DeviceWatch::stop() noexcept {
  runs_->stop();
  return [runs = runs_] { runs->drain(); };
}

}  // namespace xsigma::profiler::session
