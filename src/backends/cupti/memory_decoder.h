// MemoryDecoder: device memory taken and given back, with what is held then.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "backends/cupti/records.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::cupti {

class MemoryDecoder {
 public:
  explicit MemoryDecoder(BackendOutput& output) : output_(output) {}

  void put(const MemoryRecord& record);
  void add(const MemoryPoolRecord& record);

 private:
  struct Held {
    int64_t allocated = 0;  // since the beginning of the run
    int64_t pooled = 0;     // the sizes of the pools
    int64_t outside = 0;    // what is held in no pool
  };

  void setPool(uint32_t device, uint64_t pool, int64_t size);

  BackendOutput& output_;
  std::unordered_map<uint32_t, Held> devices_;
  std::map<std::pair<uint32_t, uint64_t>, int64_t> pools_;  // by device and address
};

}  // namespace xsigma::profiler::backends::cupti
