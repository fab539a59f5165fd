#include "backends/cupti/memory_decoder.h"

namespace xsigma::profiler::backends::cupti {
namespace {

bool isOnDevice(uint32_t kind) {
  return kind != CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE && kind != CUPTI_ACTIVITY_MEMORY_KIND_PINNED &&
         kind != CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN;
}

}  // namespace

void MemoryDecoder::put(const MemoryRecord& record) {
  if (!isOnDevice(record.memory_kind)) return;
  record.release ? giveBack(record) : take(record);
  if (record.pool != 0 && record.pool_size != 0) setPool(record.device, record.pool, static_cast<int64_t>(record.pool_size));
  const Held& held = devices_[record.device];

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
  values[kMemoryBytes] = record.release ? -static_cast<int64_t>(record.bytes) : static_cast<int64_t>(record.bytes);
  values[kMemoryAllocated] = held.allocated;
  values[kMemoryReserved] = held.pooled + held.outside;
  activity.values = values;
  activity.value_count = kMemoryValues;
  output_.put(activity);
}

void MemoryDecoder::take(const MemoryRecord& record) {
  if (const auto end = early_ends_.find(record.address); end != early_ends_.end()) {
    const bool is_over = end->second >= record.time;
    early_ends_.erase(end);
    if (is_over) return;
  }
  forget(record.address);  // held, and taken again: the record of its end was lost, or is still to come
  const Block block{record.device, static_cast<int64_t>(record.bytes), record.pool == 0, record.time};
  Held& held = devices_[record.device];
  held.allocated += block.bytes;
  if (block.outside) held.outside += block.bytes;
  blocks_.emplace(record.address, block);
}

void MemoryDecoder::giveBack(const MemoryRecord& record) {
  const auto block = blocks_.find(record.address);
  if (block == blocks_.end()) {
    early_ends_[record.address] = record.time;
  } else if (block->second.taken_at <= record.time) {
    forget(record.address);
  }
}

void MemoryDecoder::forget(uint64_t address) {
  const auto block = blocks_.find(address);
  if (block == blocks_.end()) return;
  Held& held = devices_[block->second.device];
  held.allocated -= block->second.bytes;
  if (block->second.outside) held.outside -= block->second.bytes;
  blocks_.erase(block);
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
