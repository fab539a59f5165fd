// How many blocks of a kernel an SM can hold at a time, and what keeps it from holding more. Computed from the limits of the device: nothing is asked of it.
#pragma once

#include <cstdint>
#include <string>

#include "backends/cupti/cuda_driver.h"

namespace xsigma::profiler::backends::cupti {

struct KernelResources {
  int64_t threads_per_block = 0;
  int64_t registers_per_thread = 0;
  int64_t shared_bytes = 0;  // static and dynamic together
};

struct Occupancy {
  enum Factor : uint32_t { kWarps = 1, kRegisters = 2, kSharedMemory = 4, kBlocks = 8, kBarriers = 16, kFactors = 32 };

  int64_t active_blocks = 0;  // on an SM at a time
  uint32_t factors = 0;       // which of the limits it is
  int64_t limit_registers = 0;
  int64_t limit_shared = 0;
  int64_t limit_warps = 0;
  int64_t limit_blocks = 0;
  int64_t limit_barriers = 0;
  int64_t registers_per_block = 0;  // as they are given out
  int64_t shared_per_block = 0;
};

Occupancy occupancyOf(const DeviceFacts& device, const KernelResources& kernel);

// "WARPS|REGS", or "none".
std::string factorNames(uint32_t factors);

// In percent of the threads that the device could hold, if the grid's blocks are spread evenly.
int64_t achievedPercent(const DeviceFacts& device, const Occupancy& occupancy, double blocks_per_sm, int64_t threads_per_block);

}  // namespace xsigma::profiler::backends::cupti
