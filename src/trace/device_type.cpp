#include <fmt/format.h>

#include "base/log.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler {

DeviceType deviceTypeFromActivity(libkineto::ActivityType activity_type) {
  using libkineto::ActivityType;
  switch (activity_type) {
    case ActivityType::GPU_MEMCPY:
    case ActivityType::GPU_MEMSET:
    case ActivityType::CONCURRENT_KERNEL:
    case ActivityType::CUDA_SYNC:
    case ActivityType::CUDA_EVENT:
    case ActivityType::GPU_USER_ANNOTATION:
    case ActivityType::CUDA_PROFILER_RANGE:
    case ActivityType::HARDWARE_COUNTERS: return DeviceType::CUDA;
    case ActivityType::MTIA_CCP_EVENTS:
    case ActivityType::MTIA_INSIGHT:
    case ActivityType::MTIA_COUNTERS: return DeviceType::MTIA;
    case ActivityType::HPU_OP: return DeviceType::HPU;
    case ActivityType::XPU_SCOPE_PROFILER:
    case ActivityType::XPU_SYNC: return DeviceType::XPU;
    case ActivityType::CPU_OP:
    case ActivityType::USER_ANNOTATION:
    case ActivityType::EXTERNAL_CORRELATION:
    case ActivityType::CUDA_RUNTIME:
    case ActivityType::CUDA_DRIVER:
    case ActivityType::CPU_INSTANT_EVENT:
    case ActivityType::PYTHON_FUNCTION:
    case ActivityType::OVERHEAD:
    case ActivityType::MTIA_RUNTIME:
    case ActivityType::GLOW_RUNTIME:
    case ActivityType::XPU_RUNTIME:
    case ActivityType::XPU_DRIVER:
    case ActivityType::COLLECTIVE_COMM:
    case ActivityType::PRIVATEUSE1_RUNTIME:
    case ActivityType::PRIVATEUSE1_DRIVER: return DeviceType::CPU;
    case ActivityType::ENUM_COUNT: break;
  }
  base::warn(fmt::format("Unknown activity type ({}), assuming CPU device", static_cast<int>(activity_type)));
  return DeviceType::CPU;
}

}  // namespace xsigma::profiler
