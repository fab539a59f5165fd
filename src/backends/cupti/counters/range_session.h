// RangeSession: the range profiler of one context.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "backends/cupti/counters/byte_budget.h"
#include "backends/cupti/counters/metric_host.h"
#include "backends/cupti/counters/turn.h"

namespace xsigma::profiler::backends::cupti {

struct RangeOptions {
  bool per_kernel = true;          // a range for each kernel, replayed as often as the metrics need; otherwise one from on to off
  size_t launches_per_image = 64;  // so many, at most, are counted before they are decoded
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
  // The budget is that of all sessions: an image is taken from it, and each result. What finds nothing left is counted as lost.
  static Expected<std::unique_ptr<RangeSession>> open(const CounterApi& api, const MetricPlan& plan, const RangeOptions& options,
                                                      ByteBudget& budget, CUcontext context, int device);
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
  const std::deque<RangeResult>& results() const { return results_; }
  uint64_t lost() const { return lost_; }
  // Launches among the lost that the vendor's library left out without a word.
  struct LeftOut {
    uint64_t graphs = 0;
    uint64_t kernels = 0;
  };
  const LeftOut& leftOut() const { return left_out_; }
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

  RangeSession(const CounterApi& api, const MetricPlan& plan, const RangeOptions& options, ByteBudget& budget, CUcontext context,
               int device, MetricHost host);
  // Of the kernels in an image, which may be more than launches: a graph brings many.
  size_t rangesPerImage() const { return options_.per_kernel ? launches_per_image_ * 4 : 1; }
  Expected<size_t> imageBytes() const;
  // Takes memory for the image, and makes that smaller where there is little.
  Status makeRoom();
  Status configure();
  void keep(size_t range_count);
  std::string sessionName() const;
  bool ok(CUptiResult result, const char* call);

  const CounterApi& api_;
  const MetricPlan& plan_;
  const RangeOptions options_;
  ByteBudget& budget_;
  const CUcontext context_;
  const int device_;
  MetricHost host_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  std::vector<const char*> names_;
  size_t launches_per_image_;
  size_t taken_ = 0;  // from the budget, for what follows
  std::vector<uint8_t> image_;
  bool on_ = false;
  bool undecoded_ = false;
  uint64_t on_since_ = 0;
  uint64_t on_until_ = 0;
  uint32_t times_on_ = 0;
  std::vector<Launch> launches_;  // of the image; room for all is taken at once
  Launch* open_launch_ = nullptr;
  std::deque<RangeResult> results_;
  uint64_t lost_ = 0;
  LeftOut left_out_;
  std::string trouble_;
};

}  // namespace xsigma::profiler::backends::cupti
