#include "backends/cupti/counters/metric_host.h"

#include <utility>

namespace xsigma::profiler::backends::cupti {
namespace {

constexpr CUpti_MetricType kTypes[] = {CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO, CUPTI_METRIC_TYPE_THROUGHPUT};

}  // namespace

Expected<MetricHost> MetricHost::open(const CounterApi& api, const MetricPlan& plan) {
  auto params = XSIGMA_COUNTER_PARAMS(CUpti_Profiler_Host_Initialize_Params, pHostObject);
  params.profilerType = plan.way;
  params.pChipName = plan.chip.c_str();
  params.pCounterAvailabilityImage = plan.availability.empty() ? nullptr : plan.availability.data();
  if (const CUptiResult result = api.cuptiProfilerHostInitialize(&params); result != CUPTI_SUCCESS) {
    return Status(StatusCode::unsupported, api.nameOf(result));
  }
  return MetricHost(api, params.pHostObject);
}

MetricHost::MetricHost(MetricHost&& other) noexcept : api_(other.api_), object_(std::exchange(other.object_, nullptr)) {}

MetricHost::~MetricHost() {
  if (object_ == nullptr) return;
  auto params = XSIGMA_COUNTER_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
  params.pHostObject = object_;
  api_->cuptiProfilerHostDeinitialize(&params);
}

CUptiResult MetricHost::add(const std::vector<std::string>& metrics) {
  std::vector<const char*> names;
  for (const std::string& metric : metrics) names.push_back(metric.c_str());
  auto params = XSIGMA_COUNTER_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
  params.pHostObject = object_;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  return api_->cuptiProfilerHostConfigAddMetrics(&params);
}

CUptiResult MetricHost::schedule(std::vector<uint8_t>& config, size_t& passes) const {
  auto size = XSIGMA_COUNTER_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
  size.pHostObject = object_;
  if (const CUptiResult result = api_->cuptiProfilerHostGetConfigImageSize(&size); result != CUPTI_SUCCESS) return result;
  config.assign(size.configImageSize, 0);
  auto image = XSIGMA_COUNTER_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
  image.pHostObject = object_;
  image.configImageSize = config.size();
  image.pConfigImage = config.data();
  if (const CUptiResult result = api_->cuptiProfilerHostGetConfigImage(&image); result != CUPTI_SUCCESS) return result;
  auto count = XSIGMA_COUNTER_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
  count.configImageSize = config.size();
  count.pConfigImage = config.data();
  const CUptiResult result = api_->cuptiProfilerHostGetNumOfPasses(&count);
  passes = count.numOfPasses;
  return result;
}

CUptiResult MetricHost::evaluate(const std::vector<uint8_t>& image, size_t index, const std::vector<const char*>& names,
                                 double* values) const {
  auto params = XSIGMA_COUNTER_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
  params.pHostObject = object_;
  params.pCounterDataImage = image.data();
  params.counterDataImageSize = image.size();
  params.rangeIndex = index;
  params.ppMetricNames = const_cast<const char**>(names.data());
  params.numMetrics = names.size();
  params.pMetricValues = values;
  return api_->cuptiProfilerHostEvaluateToGpuValues(&params);
}

std::vector<std::string> MetricHost::baseNames() const {
  std::vector<std::string> names;
  for (const CUpti_MetricType type : kTypes) {
    auto params = XSIGMA_COUNTER_PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params, numMetrics);
    params.pHostObject = object_;
    params.metricType = type;
    if (api_->cuptiProfilerHostGetBaseMetrics(&params) != CUPTI_SUCCESS) continue;
    for (size_t i = 0; i < params.numMetrics; ++i) names.emplace_back(params.ppMetricNames[i]);
  }
  return names;
}

std::vector<std::string> MetricHost::suffixes(const std::string& base) const {
  std::vector<std::string> names;
  for (const CUpti_MetricType type : kTypes) {
    auto params = XSIGMA_COUNTER_PARAMS(CUpti_Profiler_Host_GetSubMetrics_Params, ppSubMetrics);
    params.pHostObject = object_;
    params.metricType = type;
    params.pMetricName = base.c_str();
    if (api_->cuptiProfilerHostGetSubMetrics(&params) != CUPTI_SUCCESS) continue;
    for (size_t i = 0; i < params.numOfSubmetrics; ++i) names.emplace_back(params.ppSubMetrics[i]);
    if (!names.empty()) break;
  }
  return names;
}

}  // namespace xsigma::profiler::backends::cupti
