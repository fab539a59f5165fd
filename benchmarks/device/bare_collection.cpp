#include "bare_collection.h"

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_result.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace launch_cost {
namespace {

constexpr size_t kBufferBytes = size_t{8} << 20;
constexpr size_t kBuffers = 8;

// Where buffers wait, all of their pages touched, and where they come back to.
struct Pool {
  std::mutex mutex;
  std::vector<uint8_t*> free;
  uint64_t bytes = 0;
};
Pool& pool() {
  static Pool* const all = new Pool;  // CUPTI may come back with a buffer as the program ends
  return *all;
}

uint8_t* newBuffer() {
  void* const memory = std::aligned_alloc(4096, kBufferBytes);
  std::memset(memory, 1, kBufferBytes);
  return static_cast<uint8_t*>(memory);
}

void CUPTIAPI bufferRequested(uint8_t** buffer, size_t* size, size_t* max_records) {
  const std::lock_guard<std::mutex> lock(pool().mutex);
  if (pool().free.empty()) {
    *buffer = newBuffer();
  } else {
    *buffer = pool().free.back();
    pool().free.pop_back();
  }
  *size = kBufferBytes;
  *max_records = 0;
}

void CUPTIAPI bufferCompleted(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
  const std::lock_guard<std::mutex> lock(pool().mutex);
  pool().bytes += valid_bytes;
  pool().free.push_back(buffer);
}

// Where the library looks for it too.
void* openLibrary() {
  const char* const named = std::getenv("XSIGMA_PROFILER_CUPTI");
  const char* const home = std::getenv("CUDA_HOME");
  const std::string toolkit = home != nullptr ? home : "/usr/local/cuda";
  const std::string file = "libcupti.so.13";
  for (const std::string& name : {std::string(named != nullptr ? named : ""), file, std::string("libcupti.so.12"),
                                  toolkit + "/extras/CUPTI/lib64/" + file, toolkit + "/lib64/" + file}) {
    if (void* const library = !name.empty() ? dlopen(name.c_str(), RTLD_NOW) : nullptr) return library;
  }
  std::fprintf(stderr, "CUPTI cannot be opened: %s\n", dlerror());
  std::exit(2);
}

template <typename Function>
Function* find(const char* name) {
  static void* const library = openLibrary();
  void* const symbol = dlsym(library, name);
  if (symbol == nullptr) {
    std::fprintf(stderr, "CUPTI has no %s\n", name);
    std::exit(2);
  }
  return reinterpret_cast<Function*>(symbol);
}

#define CUPTI_CALL(name, ...)                                                  \
  do {                                                                         \
    static auto* const function = find<decltype(name)>(#name);                 \
    const CUptiResult result = function(__VA_ARGS__);                          \
    if (result != CUPTI_SUCCESS) {                                             \
      std::fprintf(stderr, "%s: error %d\n", #name, static_cast<int>(result)); \
      std::exit(2);                                                            \
    }                                                                          \
  } while (false)

}  // namespace

BareCollection::BareCollection(Also also) : also_(also) {
  while (pool().free.size() < kBuffers) pool().free.push_back(newBuffer());
  CUPTI_CALL(cuptiActivityRegisterCallbacks, bufferRequested, bufferCompleted);
  switchKinds(true);
}

void BareCollection::switchKinds(bool on) const {
  std::vector<CUpti_ActivityKind> kinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME};
  if (also_.correlation) kinds.push_back(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  if (also_.usual) {
    kinds.insert(kinds.end(),
                 {CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_OVERHEAD});
  }
  for (const CUpti_ActivityKind kind : kinds) {
    if (on) {
      CUPTI_CALL(cuptiActivityEnable, kind);
    } else {
      CUPTI_CALL(cuptiActivityDisable, kind);
    }
  }
}

void BareCollection::push(uint64_t id) { CUPTI_CALL(cuptiActivityPushExternalCorrelationId, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, id); }

void BareCollection::pop() {
  uint64_t id = 0;
  CUPTI_CALL(cuptiActivityPopExternalCorrelationId, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id);
}

void BareCollection::leave() {
  stop();
  CUPTI_CALL(cuptiFinalize);
}

void BareCollection::stop() {
  if (!on_) return;
  on_ = false;
  switchKinds(false);
  CUPTI_CALL(cuptiActivityFlushAll, 1);
}

uint64_t BareCollection::bytes() const {
  const std::lock_guard<std::mutex> lock(pool().mutex);
  return pool().bytes;
}

}  // namespace launch_cost
