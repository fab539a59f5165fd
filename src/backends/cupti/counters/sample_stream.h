// SampleStream: the counter samples of one device.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/cupti/counters/metric_host.h"

namespace xsigma::profiler::backends::cupti {

struct CounterSample {
  uint64_t start;  // in cuptiGetTimestamp's time
  uint64_t end;
  const double* values;  // in the order of the plan's metrics; valid during the call
};

// One thread at a time.
class SampleStream {
 public:
  // At most `bytes` in all: for samples that the device has taken and nobody has fetched, and for those being decoded.
  static Expected<std::unique_ptr<SampleStream>> open(const CounterApi& api, MetricPlan plan, int device, std::chrono::nanoseconds interval,
                                                      size_t bytes);
  ~SampleStream();

  // How often fetch() is to be called so that nothing is lost.
  std::chrono::nanoseconds period() const { return period_; }
  Status begin();
  void halt();
  // After halt() and the last fetch(): what the device should have sampled until then, in cuptiGetTimestamp's time, and nobody has seen, is lost.
  void missUntil(uint64_t time);
  // Hands over what the device has sampled. False: there is more.
  template <typename Function>
  bool fetch(Function&& function) {
    const bool all = decode();
    for (size_t i = 0; i < completed_; ++i) {
      CounterSample sample{};
      if (read(i, sample)) function(sample);
    }
    renew();
    return all;
  }
  void close();

  int device() const { return device_; }
  const std::vector<std::string>& metrics() const { return plan_.metrics; }
  // Samples that the device took and nobody will see: it overwrote them, or the host was late. Since the last call.
  uint64_t takeLost();
  // Of calls that failed; empty if none did.
  const std::string& trouble() const { return trouble_; }

 private:
  SampleStream(const CounterApi& api, MetricPlan plan, int device, std::chrono::nanoseconds interval, size_t bytes, MetricHost host);
  Status enable();
  Expected<size_t> imageBytes(size_t slots) const;
  // Divides the bytes among the two buffers, once.
  Status makeRoom();
  Status configure();
  void restart();
  bool decode();
  bool read(size_t index, CounterSample& sample);
  void measureInterval();
  void renew();
  bool ok(CUptiResult result, const char* call);

  const CounterApi& api_;
  const MetricPlan plan_;
  const int device_;
  const std::chrono::nanoseconds interval_;
  const size_t bytes_;
  MetricHost host_;
  CUpti_PmSampling_Object* object_ = nullptr;
  std::vector<const char*> names_;
  std::vector<double> values_;
  size_t hardware_bytes_ = 0;
  size_t image_bytes_ = 0;
  std::vector<uint8_t> image_;
  std::chrono::nanoseconds period_{0};
  bool by_time_ = true;  // of its samples; otherwise by its cycles
  bool on_ = false;
  bool is_first_ = false;  // the next sample is the first since begin()
  size_t completed_ = 0;
  uint64_t began_ = 0;
  uint64_t last_end_ = 0;
  // cuptiGetTimestamp's time need not run in nanoseconds: what was registered as CUPTI's clock is counted in its own ticks.
  struct Moment {
    uint64_t time = 0;
    std::chrono::steady_clock::time_point at;
  };
  Moment moment() const;
  Moment first_moment_;
  double interval_time_ = 0;  // how long an interval is in that time; 0 = not known
  uint64_t lost_ = 0;
  std::string trouble_;
};

}  // namespace xsigma::profiler::backends::cupti
