// CounterApi: what of the vendor's libraries the counters call, found at run time.
#pragma once

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <cstdint>
#include <string>

#include "base/dynamic_library.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler::backends::cupti {

// Needed by both ways of counting: they came with the 12.6 release.
#define XSIGMA_COUNTER_HOST_CALLS(call)                                                                                                  \
  call(cuptiGetVersion) call(cuptiGetResultString) call(cuptiGetTimestamp) call(cuptiProfilerInitialize) call(cuptiProfilerDeInitialize) \
      call(cuptiProfilerGetCounterAvailability) call(cuptiDeviceGetChipName) call(cuptiProfilerHostInitialize)                           \
          call(cuptiProfilerHostDeinitialize) call(cuptiProfilerHostGetSupportedChips) call(cuptiProfilerHostGetBaseMetrics)             \
              call(cuptiProfilerHostGetSubMetrics) call(cuptiProfilerHostEvaluateToGpuValues) call(cuptiProfilerHostConfigAddMetrics)    \
                  call(cuptiProfilerHostGetConfigImageSize) call(cuptiProfilerHostGetConfigImage) call(cuptiProfilerHostGetNumOfPasses)

#define XSIGMA_COUNTER_RANGE_CALLS(call)                                                                                                 \
  call(cuptiRangeProfilerEnable) call(cuptiRangeProfilerDisable) call(cuptiRangeProfilerSetConfig) call(cuptiRangeProfilerStart)         \
      call(cuptiRangeProfilerStop) call(cuptiRangeProfilerPushRange) call(cuptiRangeProfilerPopRange) call(cuptiRangeProfilerDecodeData) \
          call(cuptiRangeProfilerGetCounterDataSize) call(cuptiRangeProfilerCounterDataImageInitialize)                                  \
              call(cuptiRangeProfilerGetCounterDataInfo)

#define XSIGMA_COUNTER_SAMPLING_CALLS(call)                                                                                               \
  call(cuptiPmSamplingEnable) call(cuptiPmSamplingDisable) call(cuptiPmSamplingSetConfig) call(cuptiPmSamplingStart)                      \
      call(cuptiPmSamplingStop) call(cuptiPmSamplingDecodeData) call(cuptiPmSamplingGetCounterAvailability)                               \
          call(cuptiPmSamplingGetCounterDataSize) call(cuptiPmSamplingCounterDataImageInitialize) call(cuptiPmSamplingGetCounterDataInfo) \
              call(cuptiPmSamplingCounterDataGetSampleInfo)

#define XSIGMA_COUNTER_DRIVER_CALLS(call)                                                                           \
  call(cuInit) call(cuDeviceGet) call(cuDeviceGetCount) call(cuDeviceGetAttribute) call(cuDevicePrimaryCtxGetState) \
      call(cuDevicePrimaryCtxRetain) call(cuDevicePrimaryCtxRelease_v2) call(cuCtxGetCurrent) call(cuCtxGetDevice)  \
          call(cuCtxPushCurrent_v2) call(cuCtxPopCurrent_v2)

struct CounterApi {
  // The vendor's profiling library as the backend has opened it. Opens the driver, and the two helpers that lie beside the profiling
  // library: it looks for them by name alone, and does not find them where its folder is on no search path.
  static Expected<CounterApi> open(const base::DynamicLibrary& profiling);

  // "CUPTI_ERROR_…"
  std::string nameOf(CUptiResult result) const;

  uint32_t version = 0;  // as of cupti_version.h: 24 is 12.6, 26 is 12.8, 130000 is 13.0
  std::string path;      // of the profiling library

#define XSIGMA_COUNTER_POINTER(name) decltype(&::name) name = nullptr;
  XSIGMA_COUNTER_HOST_CALLS(XSIGMA_COUNTER_POINTER)
  XSIGMA_COUNTER_RANGE_CALLS(XSIGMA_COUNTER_POINTER)
  XSIGMA_COUNTER_SAMPLING_CALLS(XSIGMA_COUNTER_POINTER)
  XSIGMA_COUNTER_DRIVER_CALLS(XSIGMA_COUNTER_POINTER)
#undef XSIGMA_COUNTER_POINTER
};

// Parameters as the vendor's library takes them: zero but for the size. The size ends with a field that the oldest version has, since
// one that is larger than what the library knows is refused.
template <typename Params>
Params sized(size_t bytes) {
  Params params{};
  params.structSize = bytes;
  return params;
}
#define XSIGMA_COUNTER_PARAMS(Type, last_field) \
  ::xsigma::profiler::backends::cupti::sized<Type>(offsetof(Type, last_field) + sizeof(Type::last_field))

}  // namespace xsigma::profiler::backends::cupti
