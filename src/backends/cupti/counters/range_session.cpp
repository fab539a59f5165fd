#include "backends/cupti/counters/range_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cupti/counters/refusal.h"

namespace xsigma::profiler::backends::cupti {
namespace {

// Makes a context the thread's current one for a while.
class CurrentContext {
 public:
  CurrentContext(const CounterApi& api, CUcontext context) : api_(api), pushed_(api.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS) {}
  ~CurrentContext() {
    CUcontext popped = nullptr;
    if (pushed_) api_.cuCtxPopCurrent_v2(&popped);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const CounterApi& api_;
  const bool pushed_;
};

// With what the allocator adds to each of its blocks.
size_t bytesOf(const RangeResult& result) {
  constexpr size_t kOverhead = 2 * sizeof(size_t);
  const bool is_long = result.name.size() > std::string().capacity();
  return sizeof(RangeResult) + (is_long ? result.name.capacity() + kOverhead : 0) + result.values.capacity() * sizeof(double) + kOverhead;
}

}  // namespace

RangeSession::RangeSession(const CounterApi& api, const MetricPlan& plan, const RangeOptions& options, ByteBudget& budget,
                           CUcontext context, int device, MetricHost host)
    : api_(api),
      plan_(plan),
      options_(options),
      budget_(budget),
      context_(context),
      device_(device),
      host_(std::move(host)),
      launches_per_image_(options.launches_per_image) {
  for (const std::string& metric : plan_.metrics) names_.push_back(metric.c_str());
}

RangeSession::~RangeSession() { close(); }

Expected<std::unique_ptr<RangeSession>> RangeSession::open(const CounterApi& api, const MetricPlan& plan, const RangeOptions& options,
                                                           ByteBudget& budget, CUcontext context, int device) {
  const CurrentContext current(api, context);
  Expected<MetricHost> host = MetricHost::open(api, plan);
  if (!host) return host.status();
  std::unique_ptr<RangeSession> session(new RangeSession(api, plan, options, budget, context, device, std::move(*host)));
  auto enable = XSIGMA_COUNTER_PARAMS(CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
  enable.ctx = context;
  if (const CUptiResult result = api.cuptiRangeProfilerEnable(&enable); result != CUPTI_SUCCESS) {
    return refusal(api, result, "cuptiRangeProfilerEnable", fmt::format("count on device {}", device));
  }
  session->object_ = enable.pRangeProfilerObject;
  if (Status status = session->makeRoom(); !status) return status;
  if (Status status = session->configure(); !status) return status;
  return session;
}

Expected<size_t> RangeSession::imageBytes() const {
  auto size = XSIGMA_COUNTER_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = const_cast<const char**>(names_.data());
  size.numMetrics = names_.size();
  size.maxNumOfRanges = rangesPerImage();
  size.maxNumRangeTreeNodes = static_cast<uint32_t>(rangesPerImage());
  if (const CUptiResult result = api_.cuptiRangeProfilerGetCounterDataSize(&size); result != CUPTI_SUCCESS) {
    return refusal(api_, result, "cuptiRangeProfilerGetCounterDataSize", fmt::format("count on device {}", device_));
  }
  return size.counterDataSize;
}

Status RangeSession::makeRoom() {
  for (;; launches_per_image_ /= 2) {
    Expected<size_t> image = imageBytes();
    if (!image) return image.status();
    const size_t bytes = *image + (options_.per_kernel ? launches_per_image_ * sizeof(Launch) : 0);
    // The other half is for results.
    if (bytes <= budget_.left() / 2 && budget_.take(bytes)) {
      taken_ = bytes;
      image_.resize(*image);
      if (options_.per_kernel) launches_.reserve(launches_per_image_);
      return {};
    }
    if (launches_per_image_ > 1 && options_.per_kernel) continue;
    return {
        StatusCode::invalid_argument,
        fmt::format("cannot count {} metrics on device {}: that takes {} bytes at least, and {} are left of what the recording may use. "
                    "Ask for fewer, or raise capture.byte_cap",
                    names_.size(), device_, 2 * bytes, budget_.left())};
  }
}

Status RangeSession::configure() {
  const std::string what = fmt::format("count {} on device {}", fmt::join(plan_.metrics, ", "), device_);
  std::fill(image_.begin(), image_.end(), uint8_t{0});
  auto fill = XSIGMA_COUNTER_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData);
  fill.pRangeProfilerObject = object_;
  fill.counterDataSize = image_.size();
  fill.pCounterData = image_.data();
  if (const CUptiResult result = api_.cuptiRangeProfilerCounterDataImageInitialize(&fill); result != CUPTI_SUCCESS) {
    return refusal(api_, result, "cuptiRangeProfilerCounterDataImageInitialize", what);
  }
  auto config = XSIGMA_COUNTER_PARAMS(CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);
  config.pRangeProfilerObject = object_;
  config.configSize = plan_.config.size();
  config.pConfig = plan_.config.data();
  config.counterDataImageSize = image_.size();
  config.pCounterDataImage = image_.data();
  config.range = options_.per_kernel ? CUPTI_AutoRange : CUPTI_UserRange;
  config.replayMode = options_.per_kernel ? CUPTI_KernelReplay : CUPTI_UserReplay;
  config.maxRangesPerPass = rangesPerImage();
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = 0;
  config.targetNestingLevel = 1;
  if (const CUptiResult result = api_.cuptiRangeProfilerSetConfig(&config); result != CUPTI_SUCCESS) {
    return refusal(api_, result, "cuptiRangeProfilerSetConfig", what);
  }
  return {};
}

bool RangeSession::ok(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return true;
  if (trouble_.empty()) trouble_ = fmt::format("{} on device {} answered {}", call, device_, api_.nameOf(result));
  return false;
}

void RangeSession::begin() {
  if (on_ || object_ == nullptr) return;
  decode();
  const CurrentContext current(api_, context_);
  auto start = XSIGMA_COUNTER_PARAMS(CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
  start.pRangeProfilerObject = object_;
  if (!ok(api_.cuptiRangeProfilerStart(&start), "cuptiRangeProfilerStart")) return;
  on_ = true;
  on_since_ = options_.host_ticks();
  if (options_.per_kernel) return;
  ++times_on_;
  const std::string name = sessionName();
  auto push = XSIGMA_COUNTER_PARAMS(CUpti_RangeProfiler_PushRange_Params, pRangeName);
  push.pRangeProfilerObject = object_;
  push.pRangeName = name.c_str();
  ok(api_.cuptiRangeProfilerPushRange(&push), "cuptiRangeProfilerPushRange");
}

void RangeSession::halt() {
  if (!on_) return;
  on_ = false;
  const CurrentContext current(api_, context_);
  if (!options_.per_kernel) {
    auto pop = XSIGMA_COUNTER_PARAMS(CUpti_RangeProfiler_PopRange_Params, pRangeProfilerObject);
    pop.pRangeProfilerObject = object_;
    ok(api_.cuptiRangeProfilerPopRange(&pop), "cuptiRangeProfilerPopRange");
  }
  on_until_ = options_.host_ticks();
  auto stop = XSIGMA_COUNTER_PARAMS(CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
  stop.pRangeProfilerObject = object_;
  undecoded_ = ok(api_.cuptiRangeProfilerStop(&stop), "cuptiRangeProfilerStop");
  if (undecoded_) return;
  lost_ += std::max<size_t>(launches_.size(), 1);
  launches_.clear();
  open_launch_ = nullptr;
}

void RangeSession::beginLaunch(const char* kernel, uint64_t correlation) {
  // What a graph brings must not be mixed up with the launches before it.
  const bool full = launches_.size() >= launches_per_image_;
  if (full || (kernel == nullptr && !launches_.empty())) halt();
  begin();
  if (!on_) return;
  Launch& launch = launches_.emplace_back();
  launch.start = options_.host_ticks();
  launch.end = launch.start;
  launch.correlation = correlation;
  launch.graph = kernel == nullptr;
  const char* const name = kernel == nullptr ? "graph" : kernel;
  const size_t length = std::min(std::strlen(name), kNameBytes - 1);
  std::memcpy(launch.name.data(), name, length);
  launch.name[length] = '\0';
  open_launch_ = &launch;
}

void RangeSession::endLaunch(bool failed) {
  if (open_launch_ == nullptr) return;
  open_launch_->end = options_.host_ticks();
  const bool graph = open_launch_->graph;
  open_launch_ = nullptr;
  if (failed) {
    launches_.pop_back();
  } else if (graph) {
    halt();
  }
}

void RangeSession::decode() {
  if (!undecoded_) return;
  undecoded_ = false;
  const CurrentContext current(api_, context_);
  auto decode = XSIGMA_COUNTER_PARAMS(CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);
  decode.pRangeProfilerObject = object_;
  auto info = XSIGMA_COUNTER_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges);
  info.pCounterDataImage = image_.data();
  info.counterDataImageSize = image_.size();
  if (ok(api_.cuptiRangeProfilerDecodeData(&decode), "cuptiRangeProfilerDecodeData") &&
      ok(api_.cuptiRangeProfilerGetCounterDataInfo(&info), "cuptiRangeProfilerGetCounterDataInfo")) {
    lost_ += decode.numOfRangeDropped;
    keep(info.numTotalRanges);
  } else {
    lost_ += std::max<size_t>(launches_.size(), 1);
  }
  launches_.clear();
  open_launch_ = nullptr;
  // The image, and with it the schedule, begin anew.
  if (Status status = configure(); !status && trouble_.empty()) trouble_ = status.message();
}

std::string RangeSession::sessionName() const { return times_on_ <= 1 ? "session" : fmt::format("session {}", times_on_); }

void RangeSession::keep(size_t range_count) {
  if (range_count < launches_.size()) {
    const uint64_t missing = launches_.size() - range_count;
    lost_ += missing;
    (launches_.front().graph ? left_out_.graphs : left_out_.kernels) += missing;  // a graph is alone in its image
  }
  // Kernels that no callback told of (a library's own) would shift the names: then none is given.
  const bool one_each = range_count == launches_.size();
  const bool all_of_one = launches_.size() == 1;
  for (size_t i = 0; i < range_count; ++i) {
    RangeResult result;
    result.values.resize(names_.size());
    if (!ok(host_.evaluate(image_, i, names_, result.values.data()), "cuptiProfilerHostEvaluateToGpuValues")) {
      ++lost_;
      continue;
    }
    if (!options_.per_kernel) {
      result.name = sessionName();
      result.start = on_since_;
      result.end = on_until_;
    } else if (one_each || all_of_one) {
      const Launch& launch = launches_[one_each ? i : 0];
      result.name = launch.name.data();
      result.start = launch.start;
      result.end = launch.end;
      result.correlation = launch.correlation;
      if (!one_each) result.name += fmt::format(", kernel {}", i);
    } else {
      result.name = "kernel of unknown name";
      result.start = launches_.empty() ? on_since_ : launches_.front().start;
      result.end = launches_.empty() ? on_until_ : launches_.back().end;
    }
    if (!budget_.take(bytesOf(result))) {
      lost_ += range_count - i;
      return;
    }
    results_.push_back(std::move(result));
  }
}

void RangeSession::close() {
  if (object_ == nullptr) return;
  halt();
  decode();
  const CurrentContext current(api_, context_);
  auto disable = XSIGMA_COUNTER_PARAMS(CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject);
  disable.pRangeProfilerObject = std::exchange(object_, nullptr);
  ok(api_.cuptiRangeProfilerDisable(&disable), "cuptiRangeProfilerDisable");
  image_ = {};
  launches_ = {};
  budget_.giveBack(std::exchange(taken_, 0));
}

}  // namespace xsigma::profiler::backends::cupti
