#include "backends/cupti/counters/counted_devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/cupti/counters/refusal.h"

namespace xsigma::profiler::backends::cupti {
namespace {

Expected<std::string> chipOf(const CounterApi& api, int device) {
  auto params = XSIGMA_COUNTER_PARAMS(CUpti_Device_GetChipName_Params, pChipName);
  params.deviceIndex = static_cast<size_t>(device);
  const CUptiResult result = api.cuptiDeviceGetChipName(&params);
  if (result != CUPTI_SUCCESS || params.pChipName == nullptr) {
    return refusal(api, result, "cuptiDeviceGetChipName", fmt::format("count on device {}", device));
  }
  return std::string(params.pChipName);
}

}  // namespace

std::vector<UsedContext> usedContexts(const CounterApi& api) {
  std::vector<UsedContext> used;
  CUcontext current = nullptr;
  CUdevice current_device = 0;
  if (api.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr && api.cuCtxGetDevice(&current_device) == CUDA_SUCCESS) {
    used.push_back({current, current_device});
  }
  int count = 0;
  if (api.cuDeviceGetCount(&count) != CUDA_SUCCESS) return used;
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    unsigned flags = 0;
    int active = 0;
    if (api.cuDeviceGet(&device, i) != CUDA_SUCCESS) continue;
    if (api.cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || active == 0) continue;
    CUcontext primary = nullptr;
    if (api.cuDevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS) continue;
    api.cuDevicePrimaryCtxRelease_v2(device);  // the program holds it; it says when it lets go
    const bool known = std::any_of(used.begin(), used.end(), [&](const UsedContext& other) { return other.context == primary; });
    if (!known) used.push_back({primary, i});
  }
  return used;
}

Expected<std::vector<int>> usedDevices(const CounterApi& api) {
  std::vector<int> devices;
  for (const UsedContext& used : usedContexts(api)) {
    if (std::find(devices.begin(), devices.end(), used.device) == devices.end()) devices.push_back(used.device);
  }
  int count = 0;
  if (devices.empty() && api.cuDeviceGetCount(&count) == CUDA_SUCCESS) {
    for (int i = 0; i < count; ++i) devices.push_back(i);
  }
  if (devices.empty())
    return Status(StatusCode::unsupported, "there is no CUDA device whose counters could be read. nvidia-smi lists those there are");
  return devices;
}

Expected<MetricPlan> planRanges(const CounterApi& api, const std::vector<std::string>& metrics, int device, CUcontext context) {
  Expected<std::string> chip = chipOf(api, device);
  if (!chip) return chip.status();
  MetricPlan plan;
  plan.way = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  plan.chip = *chip;
  plan.metrics = metrics;
  if (context != nullptr) {
    auto params = XSIGMA_COUNTER_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, pCounterAvailabilityImage);
    params.ctx = context;
    CUptiResult result = api.cuptiProfilerGetCounterAvailability(&params);
    if (result == CUPTI_SUCCESS) {
      plan.availability.resize(params.counterAvailabilityImageSize);
      params.pCounterAvailabilityImage = plan.availability.data();
      result = api.cuptiProfilerGetCounterAvailability(&params);
    }
    if (result != CUPTI_SUCCESS) {
      return refusal(api, result, "cuptiProfilerGetCounterAvailability", fmt::format("count on device {}", device));
    }
  }
  if (Status status = schedule(api, plan); !status) return status;
  return plan;
}

Expected<MetricPlan> planSamples(const CounterApi& api, const std::vector<std::string>& metrics, int device) {
  Expected<std::string> chip = chipOf(api, device);
  if (!chip) return chip.status();
  MetricPlan plan;
  plan.way = CUPTI_PROFILER_TYPE_PM_SAMPLING;
  plan.chip = *chip;
  plan.metrics = metrics;
  auto params = XSIGMA_COUNTER_PARAMS(CUpti_PmSampling_GetCounterAvailability_Params, pCounterAvailabilityImage);
  params.deviceIndex = static_cast<size_t>(device);
  CUptiResult result = api.cuptiPmSamplingGetCounterAvailability(&params);
  if (result == CUPTI_SUCCESS) {
    plan.availability.resize(params.counterAvailabilityImageSize);
    params.pCounterAvailabilityImage = plan.availability.data();
    result = api.cuptiPmSamplingGetCounterAvailability(&params);
  }
  if (result != CUPTI_SUCCESS) {
    return refusal(api, result, "cuptiPmSamplingGetCounterAvailability", fmt::format("sample counters of device {}", device));
  }
  if (Status status = schedule(api, plan); !status) return status;
  if (Status status = requireOnePass(api, plan, "samples are taken in one"); !status) return status;
  return plan;
}

}  // namespace xsigma::profiler::backends::cupti
