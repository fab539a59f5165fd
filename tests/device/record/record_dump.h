// Records as lines of text, for people.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <string>

#include "cupti_tools.h"

// Copied by the kernel, so that a pointer to nothing gives "" and not a crash.
inline std::string textAt(const void* pointer) {
  std::string text;
  char piece[256];
  for (auto at = reinterpret_cast<uintptr_t>(pointer); pointer && text.size() < 8192;) {
    const size_t in_page = 4096 - at % 4096;
    iovec here{piece, in_page < sizeof piece ? in_page : sizeof piece};
    iovec there{reinterpret_cast<void*>(at), here.iov_len};
    const ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    if (got <= 0) return {};
    for (ssize_t byte = 0; byte < got; ++byte) {
      if (!piece[byte]) return text;
      text += piece[byte];
    }
    at += uintptr_t(got);
  }
  return text;
}

// The offsets at which a record of this kind holds a `const char*`.
inline int stringOffsets(const CUpti_Activity* record, size_t bytes, size_t (&offsets)[2]) {
  switch (uint32_t(record->kind)) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: offsets[0] = offsetof(CUpti_ActivityKernel9, name); return 1;
    case CUPTI_ACTIVITY_KIND_NAME: offsets[0] = offsetof(CUpti_ActivityName, name); return 1;
    case CUPTI_ACTIVITY_KIND_DEVICE: offsets[0] = offsetof(CUpti_ActivityDevice4, name); return 1;
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      offsets[0] = offsetof(CUpti_ActivityMemory3, name);
      offsets[1] = sizeof(CUpti_ActivityMemory3);  // where Memory4 begins to differ: its `source`
      return bytes >= sizeof(CUpti_ActivityMemory3) + sizeof(char*) ? 2 : 1;
    default: return 0;
  }
}

inline const char* callName(CUpti_CallbackDomain domain, uint32_t cbid) {
  const char* name = nullptr;
  return cuptiGetCallbackName(domain, cbid, &name) == CUPTI_SUCCESS && name ? name : "?";
}

inline void dumpRecord(const CUpti_Activity* record, size_t bytes) {
  std::printf("[kind %d, %zu bytes] ", int(record->kind), bytes);
  using U = unsigned long long;
  switch (uint32_t(record->kind)) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityKernel9*>(record);
      std::printf(
          "kernel %s %llu..%llu completed %llu queued %llu submitted %llu device %u context %u stream %u correlation %u grid %d,%d,%d "
          "block %d,%d,%d "
          "regs %u shared %d+%d executed %u launchType %u node %llu graph %u channel %u type %d cluster %u,%u,%u gridId %lld\n",
          textAt(k.name).c_str(), U(k.start), U(k.end), U(k.completed), U(k.queued), U(k.submitted), k.deviceId, k.contextId, k.streamId,
          k.correlationId, k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ, k.registersPerThread, k.staticSharedMemory,
          k.dynamicSharedMemory, k.sharedMemoryExecuted, k.launchType, U(k.graphNodeId), k.graphId, k.channelID, int(k.channelType),
          k.clusterX, k.clusterY, k.clusterZ, static_cast<long long>(k.gridId));
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& m = *reinterpret_cast<const CUpti_ActivityMemcpy5*>(record);
      std::printf(
          "memcpy kind %u %u->%u flags %u bytes %llu %llu..%llu device %u context %u stream %u correlation %u node %llu graph %u channel "
          "%u type %d\n",
          m.copyKind, m.srcKind, m.dstKind, m.flags, U(m.bytes), U(m.start), U(m.end), m.deviceId, m.contextId, m.streamId, m.correlationId,
          U(m.graphNodeId), m.graphId, m.channelID, int(m.channelType));
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& m = *reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      std::printf(
          "memset value %u kind %u flags %u bytes %llu %llu..%llu device %u context %u stream %u correlation %u node %llu graph %u channel "
          "%u type %d\n",
          m.value, m.memoryKind, m.flags, U(m.bytes), U(m.start), U(m.end), m.deviceId, m.contextId, m.streamId, m.correlationId,
          U(m.graphNodeId), m.graphId, m.channelID, int(m.channelType));
      return;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const auto& a = *reinterpret_cast<const CUpti_ActivityAPI*>(record);
      const bool runtime = a.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
      std::printf("%s %s (%u) %llu..%llu process %u thread %u correlation %u returned %u\n", runtime ? "runtime" : "driver",
                  callName(runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, a.cbid), a.cbid, U(a.start), U(a.end),
                  a.processId, a.threadId, a.correlationId, a.returnValue);
      return;
    }
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
      const auto& s = *reinterpret_cast<const CUpti_ActivitySynchronization*>(record);
      std::printf("sync type %d %llu..%llu correlation %u context %u stream %u event %u\n", int(s.type), U(s.start), U(s.end),
                  s.correlationId, s.contextId, s.streamId, s.cudaEventId);
      return;
    }
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT: {
      const auto& e = *reinterpret_cast<const CUpti_ActivityCudaEvent2*>(record);
      std::printf("event %u correlation %u context %u stream %u device %u timestamp %llu\n", e.eventId, e.correlationId, e.contextId,
                  e.streamId, e.deviceId, U(e.deviceTimestamp));
      return;
    }
    case CUPTI_ACTIVITY_KIND_OVERHEAD: {
      const auto& o = *reinterpret_cast<const CUpti_ActivityOverhead*>(record);
      std::printf("overhead kind %d object %d process %u thread %u %llu..%llu\n", int(o.overheadKind), int(o.objectKind),
                  o.objectId.pt.processId, o.objectId.pt.threadId, U(o.start), U(o.end));
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMORY2: {
      const auto& m = *reinterpret_cast<const CUpti_ActivityMemory3*>(record);
      std::printf(
          "memory operation %d kind %d correlation %u address %llx bytes %llu at %llu process %u device %u context %u stream %u name '%s' "
          "async %u "
          "pool type %d %llx threshold %llu size %llu used %llu\n",
          int(m.memoryOperationType), int(m.memoryKind), m.correlationId, U(m.address), U(m.bytes), U(m.timestamp), m.processId, m.deviceId,
          m.contextId, m.streamId, textAt(m.name).c_str(), m.isAsync, int(m.memoryPoolConfig.memoryPoolType), U(m.memoryPoolConfig.address),
          U(m.memoryPoolConfig.releaseThreshold), U(m.memoryPoolConfig.pool.size), U(m.memoryPoolConfig.utilizedSize));
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL: {
      const auto& p = *reinterpret_cast<const CUpti_ActivityMemoryPool2*>(record);
      std::printf("pool operation %d type %d correlation %u process %u device %u address %llx size %llu threshold %llu at %llu used %llu\n",
                  int(p.memoryPoolOperationType), int(p.memoryPoolType), p.correlationId, p.processId, p.deviceId, U(p.address), U(p.size),
                  U(p.releaseThreshold), U(p.timestamp), U(p.utilizedSize));
      return;
    }
    case CUPTI_ACTIVITY_KIND_STREAM: {
      const auto& s = *reinterpret_cast<const CUpti_ActivityStream*>(record);
      std::printf("stream %u context %u priority %d flag %d correlation %u\n", s.streamId, s.contextId, int(s.priority), int(s.flag),
                  s.correlationId);
      return;
    }
    case CUPTI_ACTIVITY_KIND_CONTEXT: {
      const auto& c = *reinterpret_cast<const CUpti_ActivityContext*>(record);
      std::printf("context %u device %u api %u null stream %u\n", c.contextId, c.deviceId, c.computeApiKind, c.nullStreamId);
      return;
    }
    case CUPTI_ACTIVITY_KIND_DEVICE: {
      const auto& d = *reinterpret_cast<const CUpti_ActivityDevice4*>(record);
      std::printf("device %u '%s' capability %u.%u multiprocessors %u clock %u bandwidth %llu memory %llu\n", d.id, textAt(d.name).c_str(),
                  d.computeCapabilityMajor, d.computeCapabilityMinor, d.numMultiprocessors, d.coreClockRate, U(d.globalMemoryBandwidth),
                  U(d.globalMemorySize));
      return;
    }
    case CUPTI_ACTIVITY_KIND_NAME: {
      const auto& n = *reinterpret_cast<const CUpti_ActivityName*>(record);
      std::printf("name object %d '%s'\n", int(n.objectKind), textAt(n.name).c_str());
      return;
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& e = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
      std::printf("external kind %d id %llu correlation %u\n", int(e.externalKind), U(e.externalId), e.correlationId);
      return;
    }
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: {
      const auto& g = *reinterpret_cast<const CUpti_ActivityGraphTrace*>(record);
      std::printf("graph %u %llu..%llu device %u context %u stream %u correlation %u\n", g.graphId, U(g.start), U(g.end), g.deviceId,
                  g.contextId, g.streamId, g.correlationId);
      return;
    }
    default: std::printf("of a kind that this program does not show\n");
  }
}
