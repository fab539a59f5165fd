#include "backends/cupti/records.h"

#include "backends/cupti/layouts.h"

namespace xsigma::profiler::backends::cupti {
namespace {

template <typename Layout>
WorkRecord workOf(const Layout& from) {
  return {.start = from.start,
          .end = from.end,
          .device = from.deviceId,
          .context = from.contextId,
          .stream = from.streamId,
          .correlation = from.correlationId,
          .graph = from.graphId,
          .graph_node = from.graphNodeId,
          .channel = from.channelID,
          .channel_type = static_cast<uint32_t>(from.channelType)};
}

template <typename Layout>
CopyRecord copyOf(const Layout& from) {
  CopyRecord copy;
  copy.work = workOf(from);
  copy.bytes = from.bytes;
  copy.kind = from.copyKind;
  copy.source = from.srcKind;
  copy.target = from.dstKind;
  return copy;
}

}  // namespace

KernelRecord readKernel(uint32_t version, const CUpti_Activity& record) {
  return KernelLayouts::read(version, record, [](const auto& from) {
    KernelRecord kernel;
    kernel.work = workOf(from);
    kernel.name = from.name;
    kernel.queued = from.queued;
    kernel.registers = from.registersPerThread;
    kernel.shared_static = from.staticSharedMemory;
    kernel.shared_dynamic = from.dynamicSharedMemory;
    kernel.shared_executed = from.sharedMemoryExecuted;
    kernel.grid[0] = from.gridX;
    kernel.grid[1] = from.gridY;
    kernel.grid[2] = from.gridZ;
    kernel.block[0] = from.blockX;
    kernel.block[1] = from.blockY;
    kernel.block[2] = from.blockZ;
    if constexpr (requires { from.priority; }) {
      kernel.priority = from.priority;
      kernel.has_priority = true;
    }
    return kernel;
  });
}

CopyRecord readCopy(uint32_t version, const CUpti_Activity& record) {
  return CopyLayouts::read(version, record, [](const auto& from) { return copyOf(from); });
}

CopyRecord readPeerCopy(uint32_t version, const CUpti_Activity& record) {
  return PeerCopyLayouts::read(version, record, [](const auto& from) {
    CopyRecord copy = copyOf(from);
    copy.peer = true;
    copy.source_device = from.srcDeviceId;
    copy.source_context = from.srcContextId;
    copy.target_device = from.dstDeviceId;
    copy.target_context = from.dstContextId;
    return copy;
  });
}

FillRecord readFill(uint32_t version, const CUpti_Activity& record) {
  return FillLayouts::read(version, record, [](const auto& from) {
    return FillRecord{.work = workOf(from), .bytes = from.bytes, .memory_kind = from.memoryKind};
  });
}

CallRecord readCall(uint32_t version, const CUpti_Activity& record) {
  return CallLayouts::read(version, record, [](const auto& from) {
    return CallRecord{.driver = from.kind == CUPTI_ACTIVITY_KIND_DRIVER,
                      .function = from.cbid,
                      .start = from.start,
                      .end = from.end,
                      .thread = from.threadId,
                      .correlation = from.correlationId,
                      .result = from.returnValue};
  });
}

SyncRecord readSync(uint32_t version, const CUpti_Activity& record) {
  return SyncLayouts::read(version, record, [](const auto& from) {
    SyncRecord sync{.type = static_cast<uint32_t>(from.type),
                    .start = from.start,
                    .end = from.end,
                    .correlation = from.correlationId,
                    .context = from.contextId,
                    .stream = from.streamId,
                    .event = from.cudaEventId,
                    .event_sync = 0};
    if constexpr (requires { from.cudaEventSyncId; }) sync.event_sync = from.cudaEventSyncId;
    return sync;
  });
}

EventRecord readEvent(uint32_t version, const CUpti_Activity& record) {
  return EventLayouts::read(version, record, [](const auto& from) {
    EventRecord event;
    event.correlation = from.correlationId;
    event.context = from.contextId;
    event.stream = from.streamId;
    event.event = from.eventId;
    if constexpr (requires { from.deviceTimestamp; }) {
      event.device = from.deviceId;
      event.has_device = true;
      event.time = from.deviceTimestamp;
      event.event_sync = from.cudaEventSyncId;
    }
    return event;
  });
}

OverheadRecord readOverhead(uint32_t version, const CUpti_Activity& record) {
  return OverheadLayouts::read(version, record, [](const auto& from) {
    return OverheadRecord{.kind = static_cast<uint32_t>(from.overheadKind), .start = from.start, .end = from.end};
  });
}

MemoryRecord readMemory(uint32_t version, const CUpti_Activity& record) {
  return MemoryLayouts::read(version, record, [](const auto& from) {
    return MemoryRecord{
        .release = from.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE,
        .memory_kind = static_cast<uint32_t>(from.memoryKind),
        .device = from.deviceId,
        .context = from.contextId,
        .stream = from.streamId,
        .correlation = from.correlationId,
        .address = from.address,
        .bytes = from.bytes,
        .time = from.timestamp,
        .pool = from.memoryPoolConfig.address,
        .pool_size = from.memoryPoolConfig.memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL ? from.memoryPoolConfig.pool.size : 0};
  });
}

MemoryPoolRecord readMemoryPool(uint32_t version, const CUpti_Activity& record) {
  return MemoryPoolLayouts::read(version, record, [](const auto& from) {
    return MemoryPoolRecord{.operation = static_cast<uint32_t>(from.memoryPoolOperationType),
                            .device = from.deviceId,
                            .address = from.address,
                            .size = from.size};
  });
}

ContextRecord readContext(uint32_t version, const CUpti_Activity& record) {
  return ContextLayouts::read(version, record,
                              [](const auto& from) { return ContextRecord{.context = from.contextId, .device = from.deviceId}; });
}

StreamRecord readStream(uint32_t version, const CUpti_Activity& record) {
  return StreamLayouts::read(version, record, [](const auto& from) {
    return StreamRecord{.context = from.contextId, .stream = from.streamId, .priority = static_cast<int32_t>(from.priority)};
  });
}

NameRecord readName(uint32_t version, const CUpti_Activity& record) {
  return NameLayouts::read(version, record, [](const auto& from) {
    NameRecord name;
    if (from.name == nullptr) return name;
    switch (from.objectKind) {
      case CUPTI_ACTIVITY_OBJECT_DEVICE: name.of = NameRecord::Of::device; break;
      case CUPTI_ACTIVITY_OBJECT_CONTEXT: name.of = NameRecord::Of::context; break;
      case CUPTI_ACTIVITY_OBJECT_STREAM: name.of = NameRecord::Of::stream; break;
      default: return name;
    }
    name.device = from.objectId.dcs.deviceId;
    name.context = from.objectId.dcs.contextId;
    name.stream = from.objectId.dcs.streamId;
    name.name = from.name;
    return name;
  });
}

}  // namespace xsigma::profiler::backends::cupti
