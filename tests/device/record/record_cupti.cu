// Runs a counted workload under CUPTI's activity interface and keeps every record, byte by byte, with what is needed to replay it.
#include <cstring>
#include <set>
#include <utility>

#include "record_dump.h"
#include "recording_format.h"
#include "workload.h"

namespace {

using namespace xsigma::recording;

struct Buffer {
  uint32_t part;
  std::vector<uint32_t> offsets;
  std::vector<uint8_t> bytes;
};

std::mutex mutex;
uint32_t part = 0;
std::vector<Buffer> buffers;
std::map<uint64_t, std::string> strings;
std::set<std::pair<uint32_t, uint32_t>> calls;
std::vector<NodeEvent> nodes;
std::vector<ClockReading> clocks;

constexpr size_t kBufferBytes = 32768;

void CUPTIAPI bufferRequested(uint8_t** buffer, size_t* bytes, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *bytes = kBufferBytes;
  *max_records = 0;
}

void CUPTIAPI bufferCompleted(CUcontext, uint32_t, uint8_t* bytes, size_t size, size_t valid) {
  std::lock_guard lock(mutex);
  std::printf("buffer of part %u completed: %zu of %zu bytes are valid\n", part, valid, size);
  Buffer kept{part, {}, std::vector<uint8_t>(bytes, bytes + valid)};
  CUpti_Activity* record = nullptr;
  while (valid && cuptiActivityGetNextRecord(bytes, valid, &record) == CUPTI_SUCCESS)
    kept.offsets.push_back(uint32_t(reinterpret_cast<uint8_t*>(record) - bytes));
  for (size_t at = 0; at < kept.offsets.size(); ++at) {
    const size_t end = at + 1 < kept.offsets.size() ? kept.offsets[at + 1] : valid;
    const auto* one = reinterpret_cast<const CUpti_Activity*>(bytes + kept.offsets[at]);
    size_t offsets[2];
    for (int string = stringOffsets(one, end - kept.offsets[at], offsets); string-- > 0;) {
      const char* pointer = nullptr;
      std::memcpy(&pointer, bytes + kept.offsets[at] + offsets[string], sizeof pointer);
      if (pointer) strings[reinterpret_cast<uint64_t>(pointer)] = textAt(pointer);
    }
    const auto* call = reinterpret_cast<const CUpti_ActivityAPI*>(one);
    if (one->kind == CUPTI_ACTIVITY_KIND_RUNTIME) calls.insert({CUPTI_CB_DOMAIN_RUNTIME_API, call->cbid});
    if (one->kind == CUPTI_ACTIVITY_KIND_DRIVER) calls.insert({CUPTI_CB_DOMAIN_DRIVER_API, call->cbid});
    dumpRecord(one, end - kept.offsets[at]);
  }
  buffers.push_back(std::move(kept));
  std::free(bytes);
}

void CUPTIAPI onGraphNode(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
  const uint64_t ticks = rawTicks();
  const bool created = cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, cloned = cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
  if (domain != CUPTI_CB_DOMAIN_RESOURCE || (!created && !cloned)) return;
  const auto* graph = static_cast<const CUpti_GraphData*>(static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor);
  NodeEvent event{part, cloned, 0, 0, ticks, threadNumber()};
  SAID(cuptiGetGraphNodeId(graph->node, &event.node));
  if (cloned) SAID(cuptiGetGraphNodeId(graph->originalNode, &event.origin));
  std::lock_guard lock(mutex);
  nodes.push_back(event);
}

void readClocks(uint32_t at_end) { clocks.push_back({part, at_end, rawTicks(), clockNs(CLOCK_MONOTONIC), clockNs(CLOCK_REALTIME)}); }

void put(std::string& out, const void* bytes, size_t count) { out.append(static_cast<const char*>(bytes), count); }
template <typename T>
void put(std::string& out, const T& value) {
  put(out, &value, sizeof value);
}
void putText(std::string& out, const std::string& text) {
  put(out, uint32_t(text.size()));
  out += text;
}

void section(std::FILE* file, uint32_t tag, const std::string& payload) {
  const SectionHead head{tag, 0, payload.size()};
  std::fwrite(&head, sizeof head, 1, file);
  std::fwrite(payload.data(), 1, payload.size(), file);
}

template <typename Map>
std::string json(const Map& map) {
  std::string text = "{";
  for (const auto& [key, value] : map) text += (text.size() > 1 ? ",\n  \"" : "\n  \"") + key + "\": " + std::to_string(value);
  return text + "\n}\n";
}

std::string deviceJson() {
  int count = 0;
  SAID(cudaGetDeviceCount(&count));
  std::string text = "[";
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp p{};
    SAID(cudaGetDeviceProperties(&p, device));
    int core = 0, memory = 0;
    SAID(cudaDeviceGetAttribute(&core, cudaDevAttrClockRate, device));
    SAID(cudaDeviceGetAttribute(&memory, cudaDevAttrMemoryClockRate, device));
    const std::pair<const char*, size_t> fields[] = {{"totalGlobalMem", p.totalGlobalMem},
                                                     {"computeMajor", p.major},
                                                     {"computeMinor", p.minor},
                                                     {"maxThreadsPerBlock", p.maxThreadsPerBlock},
                                                     {"maxThreadsPerMultiprocessor", p.maxThreadsPerMultiProcessor},
                                                     {"regsPerBlock", p.regsPerBlock},
                                                     {"warpSize", p.warpSize},
                                                     {"sharedMemPerBlock", p.sharedMemPerBlock},
                                                     {"numSms", p.multiProcessorCount},
                                                     {"regsPerMultiprocessor", p.regsPerMultiprocessor},
                                                     {"sharedMemPerBlockOptin", p.sharedMemPerBlockOptin},
                                                     {"sharedMemPerMultiprocessor", p.sharedMemPerMultiprocessor},
                                                     {"reservedSharedMemPerBlock", p.reservedSharedMemPerBlock},
                                                     {"maxBlocksPerMultiprocessor", p.maxBlocksPerMultiProcessor},
                                                     {"clockRateKHz", core},
                                                     {"memoryClockRateKHz", memory}};
    text += (device ? ",\n{\"id\": " : "\n{\"id\": ") + std::to_string(device) + ", \"name\": \"" + p.name + "\"";
    for (const auto& [key, value] : fields) text += ", \"" + std::string(key) + "\": " + std::to_string(value);
    text += "}";
  }
  return text + "\n]\n";
}

bool write(const char* path, const Workload& workload) {
  std::FILE* file = std::fopen(path, "wb");
  if (!file) return std::printf("! no file %s\n", path), false;
  std::fwrite(kMagic, sizeof kMagic, 1, file);
  uint32_t version = 0;
  SAID(cuptiGetVersion(&version));
  section(file, kVersionTag, std::string(reinterpret_cast<const char*>(&version), sizeof version));
  for (const Buffer& buffer : buffers) {
    std::string payload;
    put(payload, BufferHead{buffer.part, uint32_t(buffer.offsets.size()), buffer.bytes.size()});
    put(payload, buffer.offsets.data(), buffer.offsets.size() * sizeof(uint32_t));
    put(payload, buffer.bytes.data(), buffer.bytes.size());
    section(file, kBufferTag, payload);
  }
  std::string texts, names;
  put(texts, uint32_t(strings.size()));
  for (const auto& [pointer, text] : strings) put(texts, pointer), putText(texts, text);
  section(file, kStringsTag, texts);
  put(names, uint32_t(calls.size()));
  for (const auto& [domain, cbid] : calls)
    put(names, domain), put(names, cbid), putText(names, callName(CUpti_CallbackDomain(domain), cbid));
  section(file, kCallsTag, names);
  section(file, kNodesTag, std::string(reinterpret_cast<const char*>(nodes.data()), nodes.size() * sizeof(NodeEvent)));
  section(file, kClocksTag, std::string(reinterpret_cast<const char*>(clocks.data()), clocks.size() * sizeof(ClockReading)));
  section(file, kDevicesTag, deviceJson());
  auto threads = workload.threads;
  threads["process"] = uint32_t(getpid());
  section(file, kThreadsTag, json(threads));
  section(file, kExpectedTag, json(workload.counts));
  std::printf("recording: %ld bytes\n", std::ftell(file));
  return std::fclose(file) == 0;
}

void answerWhatTheRecordsSay(const Workload& workload) {
  std::map<uint32_t, std::map<size_t, int>> sizes;
  std::set<uint32_t> call_threads;
  std::set<uint64_t> created, cloned;
  std::map<uint64_t, uint64_t> origins;
  for (const NodeEvent& node : nodes) {
    (node.cloned ? cloned : created).insert(node.node);
    if (node.cloned) origins[node.node] = node.origin;
    std::printf("graph node %s: %llu of %llu at %llu by thread %llu, part %u\n", node.cloned ? "cloned" : "created",
                static_cast<unsigned long long>(node.node), static_cast<unsigned long long>(node.origin),
                static_cast<unsigned long long>(node.ticks), static_cast<unsigned long long>(node.thread), node.part);
  }
  int as_created = 0, as_cloned = 0, as_neither = 0;
  for (const Buffer& buffer : buffers)
    for (size_t at = 0; at < buffer.offsets.size(); ++at) {
      const size_t end = at + 1 < buffer.offsets.size() ? buffer.offsets[at + 1] : buffer.bytes.size();
      const auto* record = reinterpret_cast<const CUpti_Activity*>(buffer.bytes.data() + buffer.offsets[at]);
      ++sizes[uint32_t(record->kind)][end - buffer.offsets[at]];
      if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME || record->kind == CUPTI_ACTIVITY_KIND_DRIVER)
        call_threads.insert(reinterpret_cast<const CUpti_ActivityAPI*>(record)->threadId);
      if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
      const uint64_t node = reinterpret_cast<const CUpti_ActivityKernel9*>(record)->graphNodeId;
      if (node) ++(cloned.count(node) ? as_cloned : created.count(node) ? as_created : as_neither);
    }
  std::printf("Q3: the calls' threads are");
  for (uint32_t thread : call_threads) std::printf(" %u", thread);
  std::printf("; the program's threads are");
  for (const auto& [name, thread] : workload.threads) std::printf(" %s %u", name.c_str(), thread);
  std::printf("; process %d\n", int(getpid()));
  for (const auto& [kind, by_size] : sizes)
    for (const auto& [size, count] : by_size) std::printf("Q8: kind %u: %d records of %zu bytes\n", kind, count, size);
  std::printf("Q12: kernels of graphs that name a cloned node: %d, a created one: %d, neither: %d\n", as_cloned, as_created, as_neither);
}

}  // namespace

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "cupti_13_0.rec";
  const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                      CUPTI_ACTIVITY_KIND_MEMCPY,
                                      CUPTI_ACTIVITY_KIND_MEMCPY2,
                                      CUPTI_ACTIVITY_KIND_MEMSET,
                                      CUPTI_ACTIVITY_KIND_RUNTIME,
                                      CUPTI_ACTIVITY_KIND_DRIVER,
                                      CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                      CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                                      CUPTI_ACTIVITY_KIND_OVERHEAD,
                                      CUPTI_ACTIVITY_KIND_MEMORY2,
                                      CUPTI_ACTIVITY_KIND_MEMORY_POOL,
                                      CUPTI_ACTIVITY_KIND_STREAM,
                                      CUPTI_ACTIVITY_KIND_CONTEXT,
                                      CUPTI_ACTIVITY_KIND_DEVICE,
                                      CUPTI_ACTIVITY_KIND_NAME,
                                      CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
  CUpti_SubscriberHandle subscriber = nullptr;
  SAID(cuptiSubscribe(&subscriber, onGraphNode, nullptr));
  SAID(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED));
  SAID(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED));
  SAID(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  SAID(cuptiActivityRegisterTimestampCallback(rawTicks));
  SAID(cuptiActivityRegisterCallbacks(bufferRequested, bufferCompleted));
  SAID(enableEventTimestamps(1));
  for (CUpti_ActivityKind kind : kinds)
    if (cuptiActivityEnable(kind) != CUPTI_SUCCESS) std::printf("! kind %d could not be enabled\n", int(kind));

  Workload workload;
  readClocks(0);
  workload.wholeRun();
  SAID(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  readClocks(1);
  for (CUpti_ActivityKind kind : kinds) cuptiActivityDisable(kind);
  SAID(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));

  part = 1;
  const CUpti_ActivityKind whole_graphs[] = {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                             CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME};
  for (CUpti_ActivityKind kind : whole_graphs)
    if (cuptiActivityEnable(kind) != CUPTI_SUCCESS) std::printf("! kind %d could not be enabled\n", int(kind));
  readClocks(0);
  workload.wholeGraphs();
  SAID(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  readClocks(1);

  for (CUpti_ActivityKind kind : whole_graphs) cuptiActivityDisable(kind);
  SAID(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));

  size_t dropped = 0;
  SAID(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped));
  workload.counts["dropped records"] = int(dropped);
  answerWhatTheRecordsSay(workload);
  std::printf("expected: %s", json(workload.counts).c_str());
  const bool written = write(path, workload);
  std::fflush(stdout);
  _exit(written ? 0 : 1);  // CUPTI may still hand over buffers while statics are destroyed
}
