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
  // What the run has seen taken and not given back. Memory from before it is in none of them, and giving that back changes nothing.
  struct Held {
    int64_t allocated = 0;
    int64_t pooled = 0;   // the sizes of the pools
    int64_t outside = 0;  // what is held in no pool
  };
  struct Block {
    uint32_t device = 0;
    int64_t bytes = 0;
    bool outside = false;
    uint64_t taken_at = 0;
  };

  void take(const MemoryRecord& record);
  void giveBack(const MemoryRecord& record);
  void forget(uint64_t address);
  void setPool(uint32_t device, uint64_t pool, int64_t size);

  BackendOutput& output_;
  std::unordered_map<uint32_t, Held> devices_;
  // By address: one address space has all devices.
  std::unordered_map<uint64_t, Block> blocks_;
  // When what is not known was given back: it is from before the run, or another thread's record of its beginning has not been read yet.
  std::unordered_map<uint64_t, uint64_t> early_ends_;
  std::map<std::pair<uint32_t, uint64_t>, int64_t> pools_;  // by device and address
};

}  // namespace xsigma::profiler::backends::cupti
