#include "backends/cupti/counters/sampling_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "backends/cupti/counters/counted_devices.h"
#include "backends/cupti/counters/sample_stream.h"
#include "backends/cupti/cupti_threads.h"
#include "base/log.h"
#include "base/own_thread.h"

namespace xsigma::profiler::backends::cupti {
namespace {

// What the thread has, and the run tells it. Kept alive by both: the thread may outlast the run by a call that hangs in the driver.
class Sampling {
 public:
  Sampling(CounterApi api, uint8_t clock, uint64_t (*host_ticks)() noexcept, std::shared_ptr<BackendOutput> output)
      : api_(std::move(api)), clock_(clock), host_ticks_(host_ticks), output_(std::move(output)) {}

  Status open(const BackendRequest& request) {
    Expected<std::vector<int>> devices = usedDevices(api_);
    if (!devices) return devices.status();
    for (const int device : *devices) {
      Expected<MetricPlan> plan = planSamples(api_, request.metrics, device);
      if (!plan) return plan.status();
      Expected<std::unique_ptr<SampleStream>> stream =
          SampleStream::open(api_, std::move(*plan), device, request.sample_interval, counterBytes(request) / devices->size());
      if (!stream) return stream.status();
      period_ = std::min(period_, (*stream)->period());
      streams_.push_back(std::move(*stream));
    }
    for (const std::string& metric : request.metrics) names_.push_back(output_->text(metric));
    pairClocks();
    since_ = now();
    for (const auto& stream : streams_) {
      if (Status status = stream->begin(); !status) return status;
    }
    return {};
  }

  // The thread's.
  void run() noexcept {
    bool stopping = false;
    while (!stopping) {
      bool on = true;
      {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, period_, [this] { return stopping_ || wanted_on_ != on_; });
        stopping = stopping_;
        on = wanted_on_ && !stopping;
      }
      if (on == on_) {
        fetch();
      } else if (on) {
        switchTo(true);
      } else {
        switchOff();
      }
    }
    pairClocks();
    for (const auto& stream : streams_) {
      stream->close();
      if (!stream->trouble().empty()) base::warn("hardware counters: " + stream->trouble());
    }
    if (strange_ > 0) {
      base::warn(
          fmt::format("hardware counters: {} samples are left out, whose times are not the profiling library's: one ended at {}, "
                      "sampling began at {}",
                      strange_, strange_end_, since_));
    }
  }

  void want(bool on) noexcept {
    const std::lock_guard lock(mutex_);
    wanted_on_ = on;
    changed_.notify_one();
  }
  void stop() noexcept {
    const uint64_t time = now();
    const std::lock_guard lock(mutex_);
    if (!stopping_ && time != 0) until_.store(time);
    stopping_ = true;
    changed_.notify_one();
  }
  // Nothing is put from now on.
  void silence() noexcept {
    const std::lock_guard lock(putting_);
    silent_ = true;
    output_->lost(DeviceLoss::not_counted, 1);
  }

 private:
  uint64_t now() noexcept {
    uint64_t time = 0;
    return api_.cuptiGetTimestamp(&time) == CUPTI_SUCCESS ? time : 0;
  }

  // The best of a few: a thread may be interrupted between two readings.
  void pairClocks() noexcept {
    uint64_t best_width = UINT64_MAX;
    uint64_t device = 0;
    uint64_t host = 0;
    for (int i = 0; i < 5; ++i) {
      const uint64_t before = host_ticks_();
      const uint64_t time = now();
      const uint64_t after = host_ticks_();
      if (time != 0 && after - before < best_width) {
        best_width = after - before;
        device = time;
        host = before + (after - before) / 2;
      }
    }
    const std::lock_guard lock(putting_);
    if (silent_ || device <= last_pair_) return;
    last_pair_ = device;
    output_->clockPair(clock_, device, host);
  }

  void switchTo(bool on) noexcept {
    on_ = on;
    for (const auto& stream : streams_) {
      if (!on) {
        stream->halt();
      } else if (Status status = stream->begin(); !status) {
        base::warn("hardware counters: " + status.message());
      }
    }
  }

  void switchOff() noexcept {
    const uint64_t end = std::min(now(), until_.load());
    switchTo(false);
    fetch();
    fetch();  // what was under way
    for (const auto& stream : streams_) {
      stream->missUntil(end);
      putLost(*stream);
    }
  }

  void putLost(SampleStream& stream) noexcept {
    const uint64_t lost = stream.takeLost();
    const std::lock_guard lock(putting_);
    if (lost > 0 && !silent_) output_->lost(DeviceLoss::not_counted, lost);
  }

  void fetch() noexcept {
    pairClocks();
    for (const auto& stream : streams_) {
      if (silent_) return;
      // More than a few rounds would mean that samples come faster than they can be decoded: the rest waits for the next period.
      for (int round = 0; round < 4 && !silent_; ++round) {
        if (stream->fetch([&](const CounterSample& sample) { put(*stream, sample); })) break;
      }
      putLost(*stream);
    }
  }

  void put(SampleStream& stream, const CounterSample& sample) noexcept {
    constexpr uint64_t kSlack = 1'000'000'000;
    if (sample.end + kSlack < since_ || sample.start > now() + kSlack) {
      ++strange_;
      strange_end_ = sample.end;
      const std::lock_guard lock(putting_);
      if (!silent_) output_->lost(DeviceLoss::not_counted, 1);
      return;
    }
    if (sample.start > until_.load()) return;
    DeviceActivity activity;
    activity.role = DeviceRole::counter;
    activity.clock = clock_;
    activity.type = libkineto::ActivityType::HARDWARE_COUNTERS;
    activity.process_id = stream.device();
    activity.start = sample.start;
    activity.end = sample.end;
    activity.value_count = 1;
    const std::lock_guard lock(putting_);
    if (silent_) return;
    for (size_t i = 0; i < names_.size(); ++i) {
      if (!std::isfinite(sample.values[i])) continue;  // a ratio over a sample in which nothing ran
      const int64_t bits = std::bit_cast<int64_t>(sample.values[i]);
      activity.name = names_[i];
      activity.values = &bits;
      output_->put(activity);
    }
  }

  const CounterApi api_;
  const uint8_t clock_;
  uint64_t (*const host_ticks_)() noexcept;
  const std::shared_ptr<BackendOutput> output_;
  std::vector<std::unique_ptr<SampleStream>> streams_;
  std::vector<uint32_t> names_;
  std::chrono::nanoseconds period_ = std::chrono::milliseconds(100);
  uint64_t since_ = 0;
  std::atomic<uint64_t> until_ = UINT64_MAX;
  uint64_t strange_ = 0;
  uint64_t strange_end_ = 0;
  bool on_ = true;  // the thread's

  std::mutex mutex_;  // what the thread is told
  std::condition_variable changed_;
  bool wanted_on_ = true;
  bool stopping_ = false;

  std::mutex putting_;                // around the output alone
  std::atomic<bool> silent_ = false;  // changed under the lock
  uint64_t last_pair_ = 0;
};

class SamplingRun final : public CounterRun {
 public:
  explicit SamplingRun(std::shared_ptr<Sampling> sampling) : sampling_(std::move(sampling)) {}
  bool start() {
    return thread_.start("xsp-counters", [sampling = sampling_] {
      CuptiThreads::ofProcess().noteThis();
      sampling->run();
    });
  }

  const std::vector<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>>& callbacks() const noexcept override { return none_; }
  void callback(CUpti_CallbackDomain, CUpti_CallbackId, const void*) noexcept override {}
  void setCollecting(bool on) noexcept override { sampling_->want(on); }
  void stop() noexcept override { sampling_->stop(); }
  bool drain(std::chrono::steady_clock::time_point deadline) noexcept override {
    sampling_->stop();
    if (thread_.waitUntil(deadline)) return true;
    sampling_->silence();
    base::warn("hardware counters: the device did not answer in time; its last samples are left out");
    return false;
  }

 private:
  std::vector<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>> none_;
  const std::shared_ptr<Sampling> sampling_;
  base::OwnThread thread_;
};

}  // namespace

Expected<std::unique_ptr<CounterRun>> startSampling(CounterApi api, uint8_t clock, const BackendRequest& request,
                                                    std::shared_ptr<BackendOutput> output) {
  auto sampling = std::make_shared<Sampling>(std::move(api), clock, request.host_ticks, std::move(output));
  if (Status status = sampling->open(request); !status) return status;
  auto run = std::make_unique<SamplingRun>(std::move(sampling));
  if (!run->start()) return Status(StatusCode::io_error, "the system gave no thread to fetch counter samples with");
  return std::unique_ptr<CounterRun>(std::move(run));
}

}  // namespace xsigma::profiler::backends::cupti
