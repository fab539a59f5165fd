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

}  // namespace

RangeSession::RangeSession(const CounterApi& api, const MetricPlan& plan, const RangeOptions& options, CUcontext context, int device,
                           MetricHost host)
    : api_(api), plan_(plan), options_(options), context_(context), device_(device), host_(std::move(host)) {
  for (const std::string& metric : plan_.metrics) names_.push_back(metric.c_str());
  launches_.reserve(options_.launches_per_image);
}

RangeSession::~RangeSession() { close(); }

Expected<std::unique_ptr<RangeSession>> RangeSession::open(const CounterApi& api, const MetricPlan& plan, const RangeOptions& options,
                                                           CUcontext context, int device) {
  const CurrentContext current(api, context);
  Expected<MetricHost> host = MetricHost::open(api, plan);
  if (!host) return host.status();
  std::unique_ptr<RangeSession> session(new RangeSession(api, plan, options, context, device, std::move(*host)));
  auto enable = XSIGMA_COUNTER_PARAMS(CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
  enable.ctx = context;
  if (const CUptiResult result = api.cuptiRangeProfilerEnable(&enable); result != CUPTI_SUCCESS) {
    return refusal(api, result, "cuptiRangeProfilerEnable", fmt::format("count on device {}", device));
  }
  session->object_ = enable.pRangeProfilerObject;
  if (Status status = session->configure(); !status) return status;
  return session;
}

Status RangeSession::configure() {
  const std::string what = fmt::format("count {} on device {}", fmt::join(plan_.metrics, ", "), device_);
  // A graph may bring more kernels than there are launches.
  const size_t ranges = options_.per_kernel ? options_.launches_per_image * 4 : 1;
  auto size = XSIGMA_COUNTER_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = names_.data();
  size.numMetrics = names_.size();
  size.maxNumOfRanges = ranges;
  size.maxNumRangeTreeNodes = static_cast<uint32_t>(ranges);
  if (const CUptiResult result = api_.cuptiRangeProfilerGetCounterDataSize(&size); result != CUPTI_SUCCESS) {
    return refusal(api_, result, "cuptiRangeProfilerGetCounterDataSize", what);
  }
  image_.assign(size.counterDataSize, 0);
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
  config.maxRangesPerPass = ranges;
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
  if (!undecoded_) lost_ += std::max<size_t>(launches_.size(), 1);
}

void RangeSession::beginLaunch(const char* kernel, uint64_t correlation) {
  // What a graph brings must not be mixed up with the launches before it.
  const bool full = launches_.size() == options_.launches_per_image;
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
  if (ok(api_.cuptiRangeProfilerDecodeData(&decode), "cuptiRangeProfilerDecodeData")) {
    lost_ += decode.numOfRangeDropped;
    auto info = XSIGMA_COUNTER_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges);
    info.pCounterDataImage = image_.data();
    info.counterDataImageSize = image_.size();
    if (ok(api_.cuptiRangeProfilerGetCounterDataInfo(&info), "cuptiRangeProfilerGetCounterDataInfo")) keep(info.numTotalRanges);
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
  // A launch without a range: the library leaves out what it cannot replay.
  if (range_count < launches_.size()) lost_ += launches_.size() - range_count;
  // Kernels that no callback told of (a library's own) would shift the names: then none is given.
  const bool one_each = range_count == launches_.size();
  const bool all_of_one = launches_.size() == 1;
  for (size_t i = 0; i < range_count; ++i) {
    if (results_.size() >= options_.max_results) {
      lost_ += range_count - i;
      return;
    }
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
}

}  // namespace xsigma::profiler::backends::cupti
