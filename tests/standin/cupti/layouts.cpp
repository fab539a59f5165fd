#include "layouts.h"

#include <map>

namespace xsigma::standin {

const FieldsOfKind& fieldsOf(uint32_t kind) {
  using Kernel = CUpti_ActivityKernel9;
  using Copy = CUpti_ActivityMemcpy5;
  using PeerCopy = CUpti_ActivityMemcpyPtoP4;
  using Fill = CUpti_ActivityMemset4;
  using Call = CUpti_ActivityAPI;
  using Memory = CUpti_ActivityMemory3;
  using Pool = CUpti_ActivityMemoryPool2;
  using Sync = CUpti_ActivitySynchronization;
  using Event = CUpti_ActivityCudaEvent;
  using Overhead = CUpti_ActivityOverhead;
  using Graph = CUpti_ActivityGraphTrace;
  static const FieldsOfKind kernel{.strings = {offsetof(Kernel, name)},
                                   .times = {offsetof(Kernel, start), offsetof(Kernel, end), offsetof(Kernel, completed),
                                             offsetof(Kernel, queued), offsetof(Kernel, submitted)},
                                   .bytes_in_12_0 = sizeof(Kernel),
                                   .work = true};
  static const FieldsOfKind call{.times = {offsetof(Call, start), offsetof(Call, end)},
                                 .processes = {offsetof(Call, processId)},
                                 .threads = {offsetof(Call, threadId)}};
  static const std::map<uint32_t, FieldsOfKind> all = {
      {CUPTI_ACTIVITY_KIND_KERNEL, kernel},
      {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, kernel},
      {CUPTI_ACTIVITY_KIND_MEMCPY, {.times = {offsetof(Copy, start), offsetof(Copy, end)}, .bytes_in_12_0 = sizeof(Copy), .work = true}},
      {CUPTI_ACTIVITY_KIND_MEMCPY2, {.times = {offsetof(PeerCopy, start), offsetof(PeerCopy, end)}, .work = true}},
      {CUPTI_ACTIVITY_KIND_MEMSET, {.times = {offsetof(Fill, start), offsetof(Fill, end)}, .bytes_in_12_0 = sizeof(Fill), .work = true}},
      {CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
       {.times = {offsetof(Graph, start), offsetof(Graph, end)}, .bytes_in_12_0 = sizeof(Graph), .work = true}},
      {CUPTI_ACTIVITY_KIND_RUNTIME, call},
      {CUPTI_ACTIVITY_KIND_DRIVER, call},
      {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, {.times = {offsetof(Sync, start), offsetof(Sync, end)}, .bytes_in_12_0 = sizeof(Sync)}},
      // CudaEvent2 adds deviceId, pad2, reserved0, deviceTimestamp
      {CUPTI_ACTIVITY_KIND_CUDA_EVENT, {.times = {sizeof(Event) + 16}, .bytes_in_12_0 = sizeof(Event)}},
      // objectId tells the process and the thread where it is told of a thread, as all those that were recorded are
      {CUPTI_ACTIVITY_KIND_OVERHEAD,
       {.times = {offsetof(Overhead, start), offsetof(Overhead, end)},
        .processes = {offsetof(Overhead, objectId)},
        .threads = {offsetof(Overhead, objectId) + sizeof(uint32_t)},
        .bytes_in_12_0 = sizeof(Overhead)}},
      // Memory4 adds the source
      {CUPTI_ACTIVITY_KIND_MEMORY2,
       {.strings = {offsetof(Memory, name), sizeof(Memory)},
        .times = {offsetof(Memory, timestamp)},
        .processes = {offsetof(Memory, processId)},
        .bytes_in_12_0 = sizeof(Memory)}},
      {CUPTI_ACTIVITY_KIND_MEMORY_POOL,
       {.times = {offsetof(Pool, timestamp)}, .processes = {offsetof(Pool, processId)}, .bytes_in_12_0 = sizeof(Pool)}},
      {CUPTI_ACTIVITY_KIND_CONTEXT, {.bytes_in_12_0 = sizeof(CUpti_ActivityContext)}},
      {CUPTI_ACTIVITY_KIND_DEVICE, {.strings = {offsetof(CUpti_ActivityDevice4, name)}, .bytes_in_12_0 = sizeof(CUpti_ActivityDevice4)}},
      {CUPTI_ACTIVITY_KIND_NAME, {.strings = {offsetof(CUpti_ActivityName, name)}}},
  };
  static const FieldsOfKind none{};
  const auto found = all.find(kind);
  return found == all.end() ? none : found->second;
}

}  // namespace xsigma::standin
