#include "backends/cupti/occupancy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace xsigma::profiler::backends::cupti {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int32_t>::max();

constexpr int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// Registers are given to warps in units, from as many banks as the SM has schedulers.
constexpr int64_t kRegisterUnit = 256;
int64_t banks(const DeviceFacts& device) { return device.major == 6 && device.minor == 0 ? 2 : 4; }

// From compute capability 8.0 on in smaller units.
int64_t sharedUnit(const DeviceFacts& device) { return device.major >= 8 ? 128 : 256; }

int64_t blocksByRegisters(const DeviceFacts& device, int64_t registers_per_thread, int64_t warps, int64_t& given) {
  const int64_t per_warp = roundUp(registers_per_thread * device.warp_size, kRegisterUnit);
  given = per_warp * warps;
  if (per_warp == 0) return kUnlimited;
  // A launch is checked as if every bank had to have room for its share.
  if (per_warp * roundUp(warps, banks(device)) > device.registers_per_block) return 0;
  const int64_t warps_per_bank = device.registers_per_sm / banks(device) / per_warp;
  return warps_per_bank * banks(device) / warps;
}

int64_t blocksByShared(const DeviceFacts& device, int64_t bytes, int64_t& given) {
  given = roundUp(bytes + device.shared_reserved, sharedUnit(device));
  if (given == 0) return kUnlimited;
  return device.shared_per_sm / given;
}

// A block has one barrier, as far as is known. Older devices have more of them than blocks.
int64_t blocksByBarriers(const DeviceFacts& device) {
  if (device.major < 9) return kUnlimited;
  const bool two_each = device.major == 9 || (device.major == 10 && device.minor == 0) || (device.major == 11 && device.minor != 0);
  return two_each ? device.blocks_per_sm * int64_t{2} : device.blocks_per_sm;
}

}  // namespace

Occupancy occupancyOf(const DeviceFacts& device, const KernelResources& kernel) {
  Occupancy result;
  if (device.warp_size <= 0 || kernel.threads_per_block <= 0) return result;
  const int64_t warps = (kernel.threads_per_block + device.warp_size - 1) / device.warp_size;
  result.limit_warps = kernel.threads_per_block > device.threads_per_block ? 0 : device.threads_per_sm / device.warp_size / warps;
  result.limit_registers = blocksByRegisters(device, kernel.registers_per_thread, warps, result.registers_per_block);
  result.limit_shared = blocksByShared(device, kernel.shared_bytes, result.shared_per_block);
  result.limit_blocks = device.blocks_per_sm;
  result.limit_barriers = blocksByBarriers(device);
  result.active_blocks =
      std::min({result.limit_warps, result.limit_registers, result.limit_shared, result.limit_blocks, result.limit_barriers});
  const auto limits = [&](int64_t limit, Occupancy::Factor factor) {
    if (limit == result.active_blocks) result.factors |= factor;
  };
  limits(result.limit_warps, Occupancy::kWarps);
  limits(result.limit_registers, Occupancy::kRegisters);
  limits(result.limit_shared, Occupancy::kSharedMemory);
  limits(result.limit_blocks, Occupancy::kBlocks);
  limits(result.limit_barriers, Occupancy::kBarriers);
  return result;
}

std::string factorNames(uint32_t factors) {
  constexpr const char* kNames[] = {"WARPS", "REGS", "SMEM", "BLOCKS", "BARRIERS"};
  std::string names;
  for (uint32_t bit = 0; bit < std::size(kNames); ++bit) {
    if ((factors >> bit & 1) == 0) continue;
    if (!names.empty()) names += '|';
    names += kNames[bit];
  }
  return names.empty() ? "none" : names;
}

int64_t achievedPercent(const DeviceFacts& device, const Occupancy& occupancy, double blocks_per_sm, int64_t threads_per_block) {
  if (device.threads_per_sm <= 0) return 0;
  const double blocks = std::min(static_cast<double>(occupancy.active_blocks), blocks_per_sm);
  return std::llround(100.0 * blocks * static_cast<double>(threads_per_block) / device.threads_per_sm);
}

}  // namespace xsigma::profiler::backends::cupti
