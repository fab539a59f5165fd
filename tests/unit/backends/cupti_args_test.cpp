// What is told of each activity, beside its name and times: the arguments that readers of traces know, rows, and the head of the trace.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <set>

#include "watched_cupti.h"

namespace xsigma::profiler::testing {
namespace {

class CuptiArgs : public WatchedCupti {
 protected:
  // Of the first of this name; "" if there is none.
  std::string argsOf(DeviceRole role, const std::string& name) {
    for (const KeptActivity& activity : output->of(role)) {
      if (activity.name == name) return activity.args;
    }
    return "";
  }
};

TEST_F(CuptiArgs, AKernelTellsItsShapeAndWhatLimitsIt) {
  watch();
  EXPECT_EQ(
      argsOf(DeviceRole::work, "void shapes::beta<float>(float*, int)"),
      R"("queued": 0, "device": 0, "context": 1, "stream": 14, "correlation": 148, "registers per thread": 16, "shared memory": 768, )"
      R"("blocks per SM": 0.045455, "warps per SM": 0.181818, "grid": [3, 2, 1], "block": [32, 2, 2], "est. achieved occupancy %": 0, )"
      R"("occupancy": {"activeBlocksPerMultiprocessor": 16, "limitingFactors": "WARPS", "blockLimitRegs": 32, "blockLimitSharedMem": 130, )"
      R"("blockLimitWarps": 16, "blockLimitBlocks": 32, "blockLimitBarriers": 64, "allocatedRegistersPerBlock": 2048, )"
      R"("allocatedSharedMemPerBlock": 1792}, "channel": 2, "channel_type": 1)");
}

TEST_F(CuptiArgs, AKernelOfAGraphTellsWhichNodeItIs) {
  watch();
  int in_graphs = 0;
  for (const KeptActivity& work : output->of(DeviceRole::work)) {
    const bool told = work.args.find("\"graph id\": 2, \"graph node id\": " + std::to_string(work.told.node)) != std::string::npos;
    EXPECT_EQ(told, work.told.node != 0) << work.args;
    in_graphs += told;
  }
  EXPECT_EQ(in_graphs, 20);
}

TEST_F(CuptiArgs, CopiesAndFillsTellTheirBytesAndRate) {
  watch();
  EXPECT_EQ(argsOf(DeviceRole::work, "Memcpy DtoH (Device -> Pageable)"),
            R"j("device": 0, "context": 1, "stream": 7, "correlation": 183, "bytes": 4096, "memory bandwidth (GB/s)": 4096 per ns, )j"
            R"("channel": 12, "channel_type": 2)");
  EXPECT_EQ(argsOf(DeviceRole::work, "Memset (Device)"),
            R"j("device": 0, "context": 1, "stream": 7, "correlation": 188, "bytes": 4096, "memory bandwidth (GB/s)": 4096 per ns, )j"
            R"("channel": 0, "channel_type": 1)");
}

TEST_F(CuptiArgs, CallsTellTheirNumber) {
  watch();
  EXPECT_EQ(argsOf(DeviceRole::call, "cudaGraphLaunch"), R"("cbid": 311, "correlation": 230)");
  std::set<libkineto::ActivityType> types;
  std::set<uint32_t> kinds;
  for (const KeptActivity& call : output->of(DeviceRole::call)) {
    if (call.name == "cuLaunchKernel" || call.name == "cudaLaunchKernel") {
      types.insert(call.told.type);
      kinds.insert(call.told.kind);
    }
  }
  EXPECT_EQ(types, (std::set{Type::CUDA_RUNTIME, Type::CUDA_DRIVER}));
  EXPECT_EQ(kinds.size(), 2u) << "each function has a number of its own, whichever interface it is of";
}

TEST_F(CuptiArgs, SynchronisationTellsWhatWasWaitedFor) {
  watch();
  EXPECT_EQ(argsOf(DeviceRole::note, "Stream Wait Event"),
            R"("cuda_sync_kind": "Stream Wait Event", "wait_on_stream": 13, "wait_on_cuda_event_record_corr_id": 196, )"
            R"("wait_on_cuda_event_id": 1, "stream": 14, "correlation": 197, "device": 0, "context": 1)");
  EXPECT_EQ(argsOf(DeviceRole::note, "Context Sync"),
            R"("cuda_sync_kind": "Context Sync", "stream": -1, "correlation": 258, "device": 0, "context": 1)");
  EXPECT_EQ(argsOf(DeviceRole::note, "cudaEvent"), R"("event_id": 1, "stream": 13, "correlation": 196, "device": 0, "context": 1)");
}

TEST_F(CuptiArgs, WhatTheLibraryItselfCostHasItsNames) {
  watch();
  const std::map<std::string, int> expected = {
      {"Activity Buffer Request", 3}, {"Buffer Flush", 2}, {"Instrumentation", 2}, {"Lazy Function Loading", 7}, {"Resource", 4}};
  EXPECT_EQ(output->countsByName(DeviceRole::overhead), expected);
}

TEST_F(CuptiArgs, StreamsAreNamedWithTheirPriority) {
  watch();
  auto rows = output->rows();
  const std::string priority = std::to_string(counted("priority of the prioritized stream"));
  EXPECT_EQ((rows[{0, 13}]), "stream 13 (priority " + priority + ") ");
  EXPECT_EQ((rows[{0, 14}]), "stream 14 ");
  EXPECT_EQ((rows[{0, -1}]), "GPU 0");
  EXPECT_EQ(rows.count({0, 12}), 0u) << "CUDA made that one, and nothing ran on it";
}

TEST_F(CuptiArgs, TheHeadOfTheTraceTellsTheDeviceAndTheVersions) {
  watch();
  auto properties = output->properties();
  EXPECT_EQ(
      properties["deviceProperties"],
      R"({"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024, )"
      R"("maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132, )"
      R"("regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472})");
  EXPECT_EQ(properties["cupti_version"], "130001");
  EXPECT_EQ(properties["cuda_driver_version"], "13000");
}

TEST_F(CuptiArgs, MemoryTellsWhatIsAllocatedAndWhatIsReserved) {
  watch();
  const auto memory = output->of(DeviceRole::memory);
  ASSERT_EQ(memory.size(), 10u) << "memory of the host is not on the device";
  EXPECT_EQ(memory[4].values[kMemoryBytes], 65536);
  EXPECT_EQ(memory[4].values[kMemoryAllocated], 2 * 4096 + 65536);
  EXPECT_EQ(memory[4].values[kMemoryReserved], 2 * 4096 + 33554432) << "a pool keeps more than it has given";
  EXPECT_EQ(memory[9].values[kMemoryAllocated], 0);
}

TEST_F(CuptiArgs, ThreadsThatCallAreNamed) {
  char before[16] = {};
  pthread_getname_np(pthread_self(), before, sizeof before);
  pthread_setname_np(pthread_self(), "feeder");
  const auto thread = static_cast<uint32_t>(syscall(SYS_gettid));
  watch({.ids = {{standin::recordedThreads().at("main"), thread}}});
  pthread_setname_np(pthread_self(), before);
  EXPECT_EQ((output->rows()[{kThisProcess, thread}]), "feeder");
}

}  // namespace
}  // namespace xsigma::profiler::testing
