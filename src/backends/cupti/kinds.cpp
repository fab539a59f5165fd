#include "backends/cupti/kinds.h"

namespace xsigma::profiler::backends::cupti {

std::vector<WantedKind> wantedKinds(const BackendRequest& request) {
  using libkineto::ActivityType;
  const bool usual = request.activities.empty();
  const auto wants = [&](ActivityType type) { return request.activities.contains(type); };
  // Counting may exclude tracing; it is what was asked for then.
  const bool needed = request.metrics.empty();
  std::vector<WantedKind> kinds;
  kinds.push_back({CUPTI_ACTIVITY_KIND_NAME, "names", false});
  if (usual || wants(ActivityType::CONCURRENT_KERNEL)) kinds.push_back({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels", needed});
  if (usual || wants(ActivityType::GPU_MEMCPY)) {
    kinds.push_back({CUPTI_ACTIVITY_KIND_MEMCPY, "copies", needed});
    kinds.push_back({CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between devices", false});
  }
  if (usual || wants(ActivityType::GPU_MEMSET)) kinds.push_back({CUPTI_ACTIVITY_KIND_MEMSET, "fills", needed});
  if (usual || wants(ActivityType::OVERHEAD)) kinds.push_back({CUPTI_ACTIVITY_KIND_OVERHEAD, "overhead", false});
  // A wait names the record of the event that it waited for.
  if (wants(ActivityType::CUDA_SYNC)) kinds.push_back({CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronization", needed});
  if (wants(ActivityType::CUDA_SYNC) || wants(ActivityType::CUDA_EVENT)) kinds.push_back({CUPTI_ACTIVITY_KIND_CUDA_EVENT, "events", false});
  if (request.memory) {
    kinds.push_back({CUPTI_ACTIVITY_KIND_MEMORY_POOL, "memory pools", false});
    kinds.push_back({CUPTI_ACTIVITY_KIND_MEMORY2, "memory", needed});
  }
  // A call whose work was not recorded would pass for one whose work has not ended: calls begin last, and end first.
  if (usual || wants(ActivityType::CUDA_RUNTIME)) kinds.push_back({CUPTI_ACTIVITY_KIND_RUNTIME, "runtime calls", needed});
  if (usual || wants(ActivityType::CUDA_DRIVER)) kinds.push_back({CUPTI_ACTIVITY_KIND_DRIVER, "driver calls", needed});
  return kinds;
}

}  // namespace xsigma::profiler::backends::cupti
