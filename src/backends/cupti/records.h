// What records say, whichever version of CUPTI wrote them.
#pragma once

#include <cstdint>

#include "backends/cupti/cupti_api.h"

namespace xsigma::profiler::backends::cupti {

// Of anything on a stream of a device.
struct WorkRecord {
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t correlation = 0;
  uint32_t graph = 0;
  uint64_t graph_node = 0;
  uint32_t channel = 0;
  uint32_t channel_type = 0;
};

struct KernelRecord {
  WorkRecord work{};
  const char* name = nullptr;  // mangled; CUPTI's own, which may be gone when the module is unloaded
  uint64_t queued = 0;
  uint32_t registers = 0;
  int64_t shared_static = 0;
  int64_t shared_dynamic = 0;
  int64_t shared_executed = 0;  // how the device had divided its cache
  int32_t grid[3] = {};
  int32_t block[3] = {};
  int32_t priority = 0;
  bool has_priority = false;
};

struct CopyRecord {
  WorkRecord work{};
  uint64_t bytes = 0;
  uint8_t kind = 0;
  uint8_t source = 0;
  uint8_t target = 0;
  bool peer = false;  // between devices; the four below
  uint32_t source_device = 0;
  uint32_t source_context = 0;
  uint32_t target_device = 0;
  uint32_t target_context = 0;
};

struct FillRecord {
  WorkRecord work{};
  uint64_t bytes = 0;
  uint32_t memory_kind = 0;
};

struct CallRecord {
  bool driver = false;
  uint32_t function = 0;  // the callback id
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t thread = 0;
  uint32_t correlation = 0;
  uint32_t result = 0;
};

struct SyncRecord {
  uint32_t type = 0;
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t correlation = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t event = 0;
  uint64_t event_sync = 0;  // the same number as in the record of the event; 0 where CUPTI does not tell
};

struct EventRecord {
  uint32_t correlation = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t event = 0;
  uint32_t device = 0;
  bool has_device = false;
  uint64_t time = 0;  // on the device; 0 where CUPTI does not tell
  uint64_t event_sync = 0;
};

struct OverheadRecord {
  uint32_t kind = 0;
  uint64_t start = 0;
  uint64_t end = 0;
};

struct MemoryRecord {
  bool release = false;
  uint32_t memory_kind = 0;
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t correlation = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t time = 0;
  uint64_t pool = 0;  // its address; 0 = none
  uint64_t pool_size = 0;
};

struct MemoryPoolRecord {
  uint32_t operation = 0;
  uint32_t device = 0;
  uint64_t address = 0;
  uint64_t size = 0;
};

struct ContextRecord {
  uint32_t context = 0;
  uint32_t device = 0;
};

struct StreamRecord {
  uint32_t context = 0;
  uint32_t stream = 0;
  int32_t priority = 0;
};

// What the program calls something.
struct NameRecord {
  enum class Of { device, context, stream, other } of = Of::other;
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  const char* name = nullptr;
};

// Each reads a record of its kind; `version` is that of the library that wrote it.
KernelRecord readKernel(uint32_t version, const CUpti_Activity& record);
CopyRecord readCopy(uint32_t version, const CUpti_Activity& record);
CopyRecord readPeerCopy(uint32_t version, const CUpti_Activity& record);
FillRecord readFill(uint32_t version, const CUpti_Activity& record);
CallRecord readCall(uint32_t version, const CUpti_Activity& record);
SyncRecord readSync(uint32_t version, const CUpti_Activity& record);
EventRecord readEvent(uint32_t version, const CUpti_Activity& record);
OverheadRecord readOverhead(uint32_t version, const CUpti_Activity& record);
MemoryRecord readMemory(uint32_t version, const CUpti_Activity& record);
MemoryPoolRecord readMemoryPool(uint32_t version, const CUpti_Activity& record);
ContextRecord readContext(uint32_t version, const CUpti_Activity& record);
StreamRecord readStream(uint32_t version, const CUpti_Activity& record);
NameRecord readName(uint32_t version, const CUpti_Activity& record);

}  // namespace xsigma::profiler::backends::cupti
