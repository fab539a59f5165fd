// RangeSession: the range profiler of one context.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/cupti/counters/metric_host.h"
#include "backends/cupti/counters/turn.h"

namespace xsigma::profiler::backends::cupti {

struct RangeOptions {
  bool per_kernel = true;          // a range for each kernel, replayed as often as the metrics need; otherwise one from on to off
  size_t launches_per_image = 64;  // so many are counted before they are decoded
  size_t max_results = 1 << 20;    // what comes beyond is counted as lost
  uint64_t (*host_ticks)() noexcept = nullptr;
};

struct RangeResult {
  std::string name;
  uint64_t start = 0;  // the launch with all its passes, or on to off; host ticks
  uint64_t end = 0;
  uint64_t correlation = 0;
  std::vector<double> values;  // in the order of the plan's metrics
};

// Everything but `turn` is used by whoever has the turn.
class RangeSession {
 public:
  static Expected<std::unique_ptr<RangeSession>> open(const CounterApi& api, const MetricPlan& plan, const RangeOptions& options,
                                                      CUcontext context, int device);
  ~RangeSession();

  // Ranges are counted from now on; nothing happens if they are already.
  void begin();
  // … no longer. What was counted waits for decode().
  void halt();
  // Waits for the context's work.
  void decode();
  // Around a launch, when kernels are counted one by one. A null name stands for a graph, which may be many kernels.
  void beginLaunch(const char* kernel, uint64_t correlation);
  void endLaunch(bool failed);
  // Halts, decodes, and leaves nothing in the context.
  void close();

  Turn turn;
  int device() const { return device_; }
  std::vector<RangeResult>& results() { return results_; }
  uint64_t lost() const { return lost_; }
  // Of the calls that failed after open(); empty if none did.
  const std::string& trouble() const { return trouble_; }

 private:
  static constexpr size_t kNameBytes = 2048;
  struct Launch {
    uint64_t start;
    uint64_t end;
    uint64_t correlation;
    bool graph;
    std::array<char, kNameBytes> name;
  };

  RangeSession(const CounterApi& api, const MetricPlan& plan, const RangeOptions& options, CUcontext context, int device, MetricHost host);
  Status configure();
  void keep(size_t range_count);
  std::string sessionName() const;
  bool ok(CUptiResult result, const char* call);

  const CounterApi& api_;
  const MetricPlan& plan_;
  const RangeOptions options_;
  const CUcontext context_;
  const int device_;
  MetricHost host_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  std::vector<const char*> names_;
  std::vector<uint8_t> image_;
  bool on_ = false;
  bool undecoded_ = false;
  uint64_t on_since_ = 0;
  uint64_t on_until_ = 0;
  uint32_t times_on_ = 0;
  std::vector<Launch> launches_;  // of the image; room for all is taken at once
  Launch* open_launch_ = nullptr;
  std::vector<RangeResult> results_;
  uint64_t lost_ = 0;
  std::string trouble_;
};

}  // namespace xsigma::profiler::backends::cupti
