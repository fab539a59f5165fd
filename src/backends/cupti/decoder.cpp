#include "backends/cupti/decoder.h"

#include <fmt/format.h>

#include <string>

#include "backends/cupti/names.h"

namespace xsigma::profiler::backends::cupti {

using libkineto::ActivityType;

Decoder::Decoder(const CuptiLibrary& cupti, const CudaDriver* driver, const BackendRequest& request, BackendOutput& output)
    : version_(cupti.version),
      process_id_(request.process_id),
      output_(output),
      rows_(driver, output),
      work_(rows_, request.whole_graphs, output),
      calls_(cupti, request.process_id, output),
      notes_(rows_, output, request.activities.contains(ActivityType::CUDA_SYNC), request.activities.contains(ActivityType::CUDA_EVENT)),
      memory_(output) {
  rows_.describeDevices();
}

void Decoder::put(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return putWork(work_.put(readKernel(version_, record)));
    case CUPTI_ACTIVITY_KIND_MEMCPY: return putWork(work_.put(readCopy(version_, record)));
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return putWork(work_.put(readPeerCopy(version_, record)));
    case CUPTI_ACTIVITY_KIND_MEMSET: return putWork(work_.put(readFill(version_, record)));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: return calls_.put(readCall(version_, record));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return notes_.put(readSync(version_, record));
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT: return notes_.put(readEvent(version_, record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD: return putOverhead(readOverhead(version_, record));
    case CUPTI_ACTIVITY_KIND_MEMORY2: return memory_.put(readMemory(version_, record));
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL: return memory_.add(readMemoryPool(version_, record));
    case CUPTI_ACTIVITY_KIND_CONTEXT: return rows_.add(readContext(version_, record));
    case CUPTI_ACTIVITY_KIND_STREAM: return rows_.add(readStream(version_, record));
    case CUPTI_ACTIVITY_KIND_NAME: return rows_.add(readName(version_, record));
    default: return putUnknown(static_cast<uint32_t>(record.kind));
  }
}

void Decoder::put(const GraphNode& node) {
  DeviceActivity activity;
  activity.role = DeviceRole::graph_node;
  activity.start = node.ticks;
  activity.end = node.ticks;
  activity.process_id = process_id_;
  activity.thread_id = node.thread;
  activity.node = node.node;
  activity.origin = node.origin;
  output_.put(activity);
}

void Decoder::putWork(bool put) {
  if (!put) output_.lost(DeviceLoss::buffers_full, 1);
}

void Decoder::putOverhead(const OverheadRecord& record) {
  DeviceActivity activity;
  activity.role = DeviceRole::overhead;
  activity.type = ActivityType::OVERHEAD;
  activity.start = record.start;
  activity.end = record.end;
  activity.process_id = -1;
  activity.name = output_.text(overheadName(record.kind));
  output_.put(activity);
}

void Decoder::putUnknown(uint32_t kind) {
  ++unknown_[kind];
  output_.lost(DeviceLoss::unreadable, 1);
}

void Decoder::tick() {
  notes_.tick();
  work_.tick();
}

void Decoder::finish() {
  work_.finish();
  notes_.finish();
  if (unknown_.empty()) return;
  std::string kinds;
  for (const auto& [kind, count] : unknown_) kinds += fmt::format("{}\"{}\": {}", kinds.empty() ? "" : ", ", kind, count);
  output_.property("xsigmaUnreadRecordKinds", "{" + kinds + "}");
}

}  // namespace xsigma::profiler::backends::cupti
