#include "backends/cupti/memory_decoder.h"

#include <algorithm>

namespace xsigma::profiler::backends::cupti {
namespace {

bool isOnDevice(uint32_t kind) {
  return kind != CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE && kind != CUPTI_ACTIVITY_MEMORY_KIND_PINNED &&
         kind != CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN;
}

}  // namespace

void MemoryDecoder::put(const MemoryRecord& record) {
  if (!isOnDevice(record.memory_kind)) return;
  Held& held = devices_[record.device];
  const int64_t bytes = record.release ? -static_cast<int64_t>(record.bytes) : static_cast<int64_t>(record.bytes);
  held.allocated += bytes;
  if (record.pool == 0) held.outside += bytes;
  if (record.pool != 0 && record.pool_size != 0) setPool(record.device, record.pool, static_cast<int64_t>(record.pool_size));

  DeviceActivity activity;
  activity.role = DeviceRole::memory;
  activity.type = libkineto::ActivityType::GPU_MEMSET;  // of a device: which one, the row says
  activity.start = record.time;
  activity.end = record.time;
  activity.process_id = record.device;
  activity.thread_id = record.stream == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? 0 : int64_t{record.stream};
  activity.correlation = record.correlation;
  activity.name = output_.text("[memory]");
  int64_t values[kMemoryValues];
  values[kMemoryAddress] = static_cast<int64_t>(record.address);
  values[kMemoryBytes] = bytes;
  // What was taken before the recording may be given back in it.
  values[kMemoryAllocated] = std::max<int64_t>(held.allocated, 0);
  values[kMemoryReserved] = std::max<int64_t>(held.pooled + held.outside, 0);
  activity.values = values;
  activity.value_count = kMemoryValues;
  output_.put(activity);
}

void MemoryDecoder::add(const MemoryPoolRecord& record) {
  const bool gone = record.operation == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED;
  setPool(record.device, record.address, gone ? 0 : static_cast<int64_t>(record.size));
}

void MemoryDecoder::setPool(uint32_t device, uint64_t pool, int64_t size) {
  int64_t& known = pools_[{device, pool}];
  devices_[device].pooled += size - known;
  known = size;
}

}  // namespace xsigma::profiler::backends::cupti
