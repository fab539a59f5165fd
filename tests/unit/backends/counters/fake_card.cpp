// A stand-in for libcupti and libcuda, as far as counters go: kernels are numbers of blocks, samples come with time.
#include "fake_card.h"

#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

struct CUpti_Profiler_Host_Object {
  std::vector<std::string> metrics;
};
struct CUpti_RangeProfiler_Object {
  CUcontext context;
  bool on = false;
  bool in_range = false;
  bool per_kernel = false;
  size_t most = 0;
  uint8_t* image = nullptr;
  uint64_t image_bytes = 0;
  std::vector<double> ranges;
};
struct CUpti_PmSampling_Object {
  bool on = false;
  bool full = false;
  uint64_t interval = 0;
  uint64_t next = 0;
  uint64_t until = 0;
  uint64_t image_bytes = 0;
  uint64_t hardware_bytes = 0;
};

namespace {

FakeCard card;
std::mutex mutex;
std::vector<CUpti_RangeProfiler_Object*> profilers;
char primary_context;
const char* const kBases[] = {"dram__bytes_read", "sm__ctas_launched", "sm__cycles_active"};
const char* const kSuffixes[] = {".avg", ".max", ".min", ".sum"};

uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return (static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec)) * card.ticks_per_ns;
}

bool isKnown(const std::string& metric) {
  for (const char* base : kBases) {
    for (const char* suffix : kSuffixes) {
      if (metric == std::string(base) + suffix) return true;
    }
  }
  return false;
}

// An image: how many, then three numbers for each (of a range: its blocks; of a sample: start, end, value).
struct Entry {
  uint64_t start;
  uint64_t end;
  double value;
};
uint64_t& countOf(const uint8_t* image) { return *reinterpret_cast<uint64_t*>(const_cast<uint8_t*>(image)); }
Entry* entriesOf(const uint8_t* image) { return reinterpret_cast<Entry*>(const_cast<uint8_t*>(image) + sizeof(uint64_t)); }

}  // namespace

extern "C" {

FakeCard* fake_card() { return &card; }

void fake_run_kernel(void* context, double blocks) {
  const std::lock_guard lock(mutex);
  for (CUpti_RangeProfiler_Object* const each : profilers) {
    if (each->context != context || !each->on || card.deaf) continue;
    if (each->per_kernel) {
      for (uint64_t i = 0; i < card.internal_kernels; ++i) each->ranges.push_back(1);
      each->ranges.push_back(blocks);
    } else if (each->in_range) {
      each->ranges.back() += blocks;
    }
  }
}

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int index) { return *device = index, CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int* count) { return *count = card.devices, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned*, int* active) {
  return *active = card.has_context && device == 0 ? 1 : 0, CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  return *context = reinterpret_cast<CUcontext>(&primary_context), CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }
CUresult cuCtxGetCurrent(CUcontext* context) { return *context = nullptr, CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice* device) { return *device = 0, CUDA_SUCCESS; }
CUresult cuCtxPushCurrent_v2(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent_v2(CUcontext*) { return CUDA_SUCCESS; }

CUptiResult cuptiGetVersion(uint32_t* version) { return *version = 130001, CUPTI_SUCCESS; }
CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR_OTHER";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(uint64_t* time) { return *time = now(), CUPTI_SUCCESS; }
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params) {
  params->counterAvailabilityImageSize = 8;
  return card.privilege;
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) { return params->pChipName = "GH100", CUPTI_SUCCESS; }

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  ++card.hosts;
  params->pHostObject = new CUpti_Profiler_Host_Object;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  --card.hosts;
  delete params->pHostObject;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetSupportedChips(CUpti_Profiler_Host_GetSupportedChips_Params* params) {
  static const char* const chips[] = {"GA100", "GH100"};
  params->numChips = 2;
  params->ppChipNames = chips;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetBaseMetrics(CUpti_Profiler_Host_GetBaseMetrics_Params* params) {
  params->numMetrics = params->metricType == CUPTI_METRIC_TYPE_COUNTER ? std::size(kBases) : 0;
  params->ppMetricNames = const_cast<const char**>(kBases);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetSubMetrics(CUpti_Profiler_Host_GetSubMetrics_Params* params) {
  params->numOfSubmetrics = std::size(kSuffixes);
  params->ppSubMetrics = const_cast<const char**>(kSuffixes);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  for (size_t i = 0; i < params->numMetrics; ++i) {
    if (!isKnown(params->ppMetricNames[i])) return CUPTI_ERROR_INVALID_METRIC_NAME;
    params->pHostObject->metrics.emplace_back(params->ppMetricNames[i]);
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  return params->configImageSize = 8, CUPTI_SUCCESS;
}
// Two fit into a pass.
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  countOf(params->pConfigImage) = (params->pHostObject->metrics.size() + 1) / 2;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  return params->numOfPasses = countOf(params->pConfigImage), CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  for (size_t i = 0; i < params->numMetrics; ++i) params->pMetricValues[i] = entriesOf(params->pCounterDataImage)[params->rangeIndex].value;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  if (card.privilege != CUPTI_SUCCESS) return card.privilege;
  const std::lock_guard lock(mutex);
  ++card.enabled;
  profilers.push_back(params->pRangeProfilerObject = new CUpti_RangeProfiler_Object{.context = params->ctx, .ranges = {}});
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* params) {
  const std::lock_guard lock(mutex);
  --card.enabled;
  card.image_bytes -= params->pRangeProfilerObject->image_bytes;
  std::erase(profilers, params->pRangeProfilerObject);
  delete params->pRangeProfilerObject;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  CUpti_RangeProfiler_Object& object = *params->pRangeProfilerObject;
  if (object.on || params->numNestingLevels != 1) return CUPTI_ERROR_INVALID_PARAMETER;
  object.per_kernel = params->range == CUPTI_AutoRange;
  object.most = params->maxRangesPerPass;
  object.image = params->pCounterDataImage;
  card.image_bytes += params->counterDataImageSize - std::exchange(object.image_bytes, params->counterDataImageSize);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
  const std::lock_guard lock(mutex);
  if (params->pRangeProfilerObject->on || !params->pRangeProfilerObject->ranges.empty()) return CUPTI_ERROR_INVALID_OPERATION;
  params->pRangeProfilerObject->on = true;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  const std::lock_guard lock(mutex);
  if (!params->pRangeProfilerObject->on || params->pRangeProfilerObject->in_range) return CUPTI_ERROR_INVALID_OPERATION;
  params->pRangeProfilerObject->on = false;
  params->isAllPassSubmitted = 1;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* params) {
  const std::lock_guard lock(mutex);
  params->pRangeProfilerObject->in_range = true;
  params->pRangeProfilerObject->ranges.push_back(0);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* params) {
  params->pRangeProfilerObject->in_range = false;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
  if (card.hang) sleep(1);
  const std::lock_guard lock(mutex);
  CUpti_RangeProfiler_Object& object = *params->pRangeProfilerObject;
  if (object.on) return CUPTI_ERROR_INVALID_OPERATION;
  const size_t kept = std::min(object.ranges.size(), object.most);
  params->numOfRangeDropped = object.ranges.size() - kept;
  countOf(object.image) = kept;
  for (size_t i = 0; i < kept; ++i) entriesOf(object.image)[i] = {0, 0, object.ranges[i]};
  object.ranges.clear();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  params->counterDataSize = sizeof(uint64_t) + params->maxNumOfRanges * card.bytes_per_slot;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
  std::memset(params->pCounterData, 0, params->counterDataSize);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  return params->numTotalRanges = countOf(params->pCounterDataImage), CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* params) {
  if (card.privilege != CUPTI_SUCCESS) return card.privilege;
  ++card.enabled;
  params->pPmSamplingObject = new CUpti_PmSampling_Object;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params* params) {
  --card.enabled;
  card.image_bytes -= params->pPmSamplingObject->image_bytes;
  card.hardware_bytes -= params->pPmSamplingObject->hardware_bytes;
  delete params->pPmSamplingObject;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* params) {
  CUpti_PmSampling_Object& object = *params->pPmSamplingObject;
  card.interval = params->samplingInterval;
  object.interval = params->samplingInterval * card.ticks_per_ns;
  card.hardware_bytes += params->hardwareBufferSize - std::exchange(object.hardware_bytes, params->hardwareBufferSize);
  card.hardware_mode = params->hwBufferAppendMode;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params* params) {
  if (params->pPmSamplingObject->on) return CUPTI_ERROR_INVALID_OPERATION;
  CUpti_PmSampling_Object& object = *params->pPmSamplingObject;
  object.on = true;
  object.full = false;
  object.next = now();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params* params) {
  if (!params->pPmSamplingObject->on) return CUPTI_ERROR_INVALID_OPERATION;
  params->pPmSamplingObject->on = false;
  params->pPmSamplingObject->until = now();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* params) {
  if (card.hang) sleep(1);
  CUpti_PmSampling_Object& object = *params->pPmSamplingObject;
  if (card.overflow_once.exchange(false)) {
    object.full = true;
  }
  if (object.full) {
    params->overflow = 1;
    return CUPTI_ERROR_OUT_OF_MEMORY;
  }
  const uint64_t skipped = card.skip_samples.exchange(0) * object.interval;
  object.next += skipped;
  const uint64_t until = object.on ? now() : object.until;
  const size_t most = (params->counterDataImageSize - sizeof(uint64_t)) / card.bytes_per_slot;
  uint64_t& count = countOf(params->pCounterDataImage);
  const uint64_t shift = card.foreign_clock ? uint64_t{1} << 60 : 0;
  for (count = 0; count < most && object.next + object.interval <= until; ++count, object.next += object.interval) {
    const uint64_t back = card.reach_back && count == 0 ? skipped : 0;
    entriesOf(params->pCounterDataImage)[count] = {shift + object.next - back, shift + object.next + object.interval, 0.5};
  }
  params->decodeStopReason =
      count == most ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingGetCounterAvailability(CUpti_PmSampling_GetCounterAvailability_Params* params) {
  params->counterAvailabilityImageSize = 8;
  return card.privilege;
}
CUptiResult cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* params) {
  params->counterDataSize = sizeof(uint64_t) + params->maxSamples * card.bytes_per_slot;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingCounterDataImageInitialize(CUpti_PmSampling_CounterDataImage_Initialize_Params* params) {
  ++card.image_fills;
  CUpti_PmSampling_Object& object = *params->pPmSamplingObject;
  card.image_bytes += params->counterDataSize - std::exchange(object.image_bytes, params->counterDataSize);
  std::memset(params->pCounterData, 0, params->counterDataSize);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* params) {
  return params->numCompletedSamples = countOf(params->pCounterDataImage), CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(CUpti_PmSampling_CounterData_GetSampleInfo_Params* params) {
  const Entry& entry = entriesOf(params->pCounterDataImage)[params->sampleIndex];
  params->startTimestamp = entry.start;
  params->endTimestamp = entry.end;
  return CUPTI_SUCCESS;
}

}  // extern "C"
