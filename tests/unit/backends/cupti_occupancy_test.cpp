// How many blocks an SM holds, on devices whose limits are known, for kernels whose figures torch.profiler has written.
#include <gtest/gtest.h>

#include "backends/cupti/occupancy.h"

namespace xsigma::profiler::backends::cupti {
namespace {

DeviceFacts h200() {
  DeviceFacts device;
  device.name = "NVIDIA H200";
  device.memory = 150109880320;
  device.major = 9;
  device.threads_per_block = 1024;
  device.threads_per_sm = 2048;
  device.registers_per_block = 65536;
  device.registers_per_sm = 65536;
  device.warp_size = 32;
  device.shared_per_block = 49152;
  device.shared_per_block_optin = 232448;
  device.shared_per_sm = 233472;
  device.shared_reserved = 1024;
  device.blocks_per_sm = 32;
  device.sms = 132;
  return device;
}

int64_t percent(const KernelResources& kernel, int64_t blocks) {
  const DeviceFacts device = h200();
  return achievedPercent(device, occupancyOf(device, kernel), static_cast<double>(blocks) / device.sms, kernel.threads_per_block);
}

TEST(CuptiOccupancy, IsWhatTorchProfilerWroteForTheSameLaunches) {
  EXPECT_EQ(percent({.threads_per_block = 128, .registers_per_thread = 74, .shared_bytes = 20480}, 128), 6);
  EXPECT_EQ(percent({.threads_per_block = 256, .registers_per_thread = 18, .shared_bytes = 0}, 32), 3);
  EXPECT_EQ(percent({.threads_per_block = 256, .registers_per_thread = 32, .shared_bytes = 4356}, 256), 24);
  EXPECT_EQ(percent({.threads_per_block = 512, .registers_per_thread = 32, .shared_bytes = 0}, 128), 24);
  EXPECT_EQ(percent({.threads_per_block = 64, .registers_per_thread = 90, .shared_bytes = 6144}, 32), 1);
  EXPECT_EQ(percent({.threads_per_block = 128, .registers_per_thread = 21, .shared_bytes = 0}, 4), 0);
}

TEST(CuptiOccupancy, RegistersAreGivenToWarpsInUnits) {
  // 74 registers of 32 threads are 2368, given as 2560: 6 warps for each of the 4 schedulers, 24 in all, 6 blocks of 4
  const Occupancy occupancy = occupancyOf(h200(), {.threads_per_block = 128, .registers_per_thread = 74, .shared_bytes = 20480});
  EXPECT_EQ(occupancy.registers_per_block, 10240);
  EXPECT_EQ(occupancy.limit_registers, 6);
  EXPECT_EQ(occupancy.active_blocks, 6);
  EXPECT_EQ(factorNames(occupancy.factors), "REGS");
}

TEST(CuptiOccupancy, SharedMemoryIncludesWhatTheSystemTakes) {
  // 20,480 and 1,024 of the system are 21,504
  const Occupancy occupancy = occupancyOf(h200(), {.threads_per_block = 128, .registers_per_thread = 16, .shared_bytes = 20480});
  EXPECT_EQ(occupancy.shared_per_block, 21504);
  EXPECT_EQ(occupancy.limit_shared, 10);
  EXPECT_EQ(factorNames(occupancy.factors), "SMEM");
}

TEST(CuptiOccupancy, SmallBlocksAreLimitedByTheirNumber) {
  const Occupancy occupancy = occupancyOf(h200(), {.threads_per_block = 32, .registers_per_thread = 16, .shared_bytes = 0});
  EXPECT_EQ(occupancy.active_blocks, 32);
  EXPECT_EQ(factorNames(occupancy.factors), "BLOCKS");
  EXPECT_EQ(occupancy.limit_barriers, 64);
}

TEST(CuptiOccupancy, SeveralLimitsCanBeTheSame) {
  // 64 warps fit, and 65,536 registers are 64 times 32 × 32
  const Occupancy occupancy = occupancyOf(h200(), {.threads_per_block = 1024, .registers_per_thread = 32, .shared_bytes = 0});
  EXPECT_EQ(occupancy.active_blocks, 2);
  EXPECT_EQ(factorNames(occupancy.factors), "WARPS|REGS");
  EXPECT_EQ(percent({.threads_per_block = 1024, .registers_per_thread = 32, .shared_bytes = 0}, 132 * 2), 100);
}

TEST(CuptiOccupancy, ABlockThatDoesNotFitIsNoBlock) {
  EXPECT_EQ(occupancyOf(h200(), {.threads_per_block = 2048, .registers_per_thread = 16, .shared_bytes = 0}).active_blocks, 0);
  EXPECT_EQ(occupancyOf(h200(), {.threads_per_block = 1024, .registers_per_thread = 128, .shared_bytes = 0}).limit_registers, 0);
  EXPECT_EQ(factorNames(0), "none");
}

TEST(CuptiOccupancy, OlderDevicesGiveSharedMemoryInLargerUnits) {
  DeviceFacts v100 = h200();
  v100.major = 7;
  v100.shared_reserved = 0;
  v100.shared_per_sm = 98304;
  const Occupancy occupancy = occupancyOf(v100, {.threads_per_block = 128, .registers_per_thread = 16, .shared_bytes = 1025});
  EXPECT_EQ(occupancy.shared_per_block, 1280);
  EXPECT_EQ(occupancy.limit_barriers, 2147483647) << "as the reference writes what is not limited";
}

TEST(CuptiDevice, IsDescribedWithTheKeysOfTorchProfiler) {
  EXPECT_EQ(
      devicePropertiesJson(h200()),
      R"({"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024, )"
      R"("maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132, )"
      R"("regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472})");
}

}  // namespace
}  // namespace xsigma::profiler::backends::cupti
