// Everything that the recorded program counted while it ran is there, under the name that people know.
#include "watched_cupti.h"

namespace xsigma::profiler::testing {
namespace {

class CuptiCounts : public WatchedCupti {};

TEST_F(CuptiCounts, KernelsByTheNamesOfTheirSource) {
  watch();
  auto counts = output->countsByName(DeviceRole::work);
  EXPECT_EQ(counts["alpha(float*, int)"], counted("kernel alpha") + counted("kernel alpha in a graph"));
  EXPECT_EQ(counts["void shapes::beta<float>(float*, int)"], counted("kernel beta") + counted("kernel beta in a graph"));
  EXPECT_EQ(counts["gammaRays(float*)"], counted("kernel gammaRays"));
  EXPECT_EQ(counts["together(float*)"], counted("kernel together"));
  EXPECT_EQ(counts["leader(float*)"], counted("kernel leader"));
  EXPECT_EQ(counts["follower(float*)"], counted("kernel follower"));
  EXPECT_EQ(counts["fromTheDriver"], counted("kernel fromTheDriver"));
}

TEST_F(CuptiCounts, CopiesByDirectionAndFills) {
  watch();
  auto counts = output->countsByName(DeviceRole::work);
  EXPECT_EQ(counts["Memcpy HtoD (Pageable -> Device)"] + counts["Memcpy HtoD (Pinned -> Device)"], counted("copy HtoD"));
  EXPECT_EQ(counts["Memcpy HtoD (Pageable -> Device)"], 1);
  EXPECT_EQ(counts["Memcpy DtoH (Device -> Pageable)"] + counts["Memcpy DtoH (Device -> Pinned)"], counted("copy DtoH"));
  EXPECT_EQ(counts["Memcpy DtoD (Device -> Device)"], counted("copy DtoD"));
  EXPECT_EQ(counts["Memset (Device)"], counted("fill") + counted("fill in a graph"));
}

TEST_F(CuptiCounts, NothingElseIsWork) {
  watch();
  EXPECT_EQ(output->of(DeviceRole::work).size(), 55u + 6u + 8u);
  EXPECT_EQ(output->lossOf(DeviceLoss::buffers_full), 0u);
  EXPECT_EQ(output->lossOf(DeviceLoss::unreadable), 0u);
}

TEST_F(CuptiCounts, CallsByTheNamesThatProgramsCallThem) {
  watch();
  auto counts = output->countsByName(DeviceRole::call);
  for (const char* const call : {"cudaDeviceSynchronize", "cudaEventRecord", "cudaEventSynchronize", "cudaGraphLaunch",
                                 "cudaStreamSynchronize", "cudaStreamWaitEvent"}) {
    EXPECT_EQ(counts[call], counted(std::string("call ") + call)) << call;
  }
  EXPECT_EQ(counts["cuLaunchKernel"], counted("kernel fromTheDriver"));
  for (const auto& [name, count] : counts) EXPECT_EQ(name.find("_v"), std::string::npos) << name;
}

TEST_F(CuptiCounts, QuestionsThatTakeNoTimeAreLeftOut) {
  watch();
  auto counts = output->countsByName(DeviceRole::call);
  EXPECT_EQ(counts.count("cudaGetLastError"), 0u);
  EXPECT_EQ(counts.count("cuDeviceGetAttribute"), 0u);
  EXPECT_EQ(counts.count("cuKernelGetName"), 0u);
  EXPECT_EQ(counts["cuModuleLoadData"], 1) << "loading takes time";
}

TEST_F(CuptiCounts, SynchronisationAndEvents) {
  watch();
  auto counts = output->countsByName(DeviceRole::note);
  EXPECT_EQ(counts["Stream Sync"], counted("call cudaStreamSynchronize"));
  EXPECT_EQ(counts["Stream Wait Event"], counted("call cudaStreamWaitEvent"));
  EXPECT_EQ(counts["Event Sync"], counted("call cudaEventSynchronize"));
  EXPECT_EQ(counts["Context Sync"], counted("call cudaDeviceSynchronize"));
  EXPECT_EQ(counts["cudaEvent"], counted("call cudaEventRecord"));
}

TEST_F(CuptiCounts, MemoryThatWasTakenAndGivenBack) {
  watch();
  std::map<int64_t, int> by_bytes;
  int64_t held = 0;
  for (const KeptActivity& memory : output->of(DeviceRole::memory)) {
    ASSERT_EQ(memory.values.size(), size_t{kMemoryValues});
    ++by_bytes[memory.values[kMemoryBytes]];
    held += memory.values[kMemoryBytes];
    EXPECT_EQ(memory.values[kMemoryAllocated], held);
  }
  EXPECT_EQ(by_bytes[4096], counted("cudaMalloc of 4096 bytes"));
  EXPECT_EQ(by_bytes[-4096], counted("cudaFree of 4096 bytes"));
  EXPECT_EQ(by_bytes[1048576], counted("cudaMalloc of 1048576 bytes"));
  EXPECT_EQ(by_bytes[-65536], counted("cudaFreeAsync of 65536 bytes"));
  EXPECT_EQ(held, 0);
}

TEST_F(CuptiCounts, AGraphIsOneActivityWhereThatIsAsked) {
  watch();
  std::map<uint64_t, std::vector<KeptActivity>> nodes;  // by launch
  for (const KeptActivity& work : output->of(DeviceRole::work)) {
    if (work.told.node != 0) nodes[work.told.correlation].push_back(work);
  }
  ASSERT_EQ(static_cast<int64_t>(nodes.size()), counted("call cudaGraphLaunch"));
  const size_t all = output->of(DeviceRole::work).size();

  output = std::make_shared<KeptOutput>();
  request.whole_graphs = true;
  watch();
  size_t inside = 0;
  for (const KeptActivity& work : output->of(DeviceRole::work)) {
    const auto launch = nodes.find(work.told.correlation);
    if (launch == nodes.end()) continue;
    const std::vector<KeptActivity>& parts = launch->second;
    EXPECT_EQ(work.name, "CUDA graph 2");
    EXPECT_EQ(work.told.start,
              std::min_element(parts.begin(), parts.end(), [](auto& a, auto& b) { return a.told.start < b.told.start; })->told.start);
    EXPECT_EQ(work.told.end,
              std::max_element(parts.begin(), parts.end(), [](auto& a, auto& b) { return a.told.end < b.told.end; })->told.end);
    ASSERT_EQ(work.values.size(), 8u);
    EXPECT_EQ(work.values[5] + work.values[6] + work.values[7], static_cast<int64_t>(parts.size())) << "kernels, copies and fills in it";
    inside += parts.size();
    nodes.erase(launch);
  }
  EXPECT_TRUE(nodes.empty()) << "a launch that is not there, or is there twice";
  EXPECT_EQ(output->of(DeviceRole::work).size(), all - inside + static_cast<size_t>(counted("call cudaGraphLaunch")));
}

TEST_F(CuptiCounts, NodesAreToldForWholeGraphsToo) {
  request.whole_graphs = true;
  watch();
  EXPECT_EQ(output->of(DeviceRole::graph_node).size(), 12u) << "or calls that only captured them would pass for launches";
}

TEST_F(CuptiCounts, AWholeGraphThatHasNotEndedIsPending) {
  request.whole_graphs = true;
  watch({.late_flushes = 1000});
  size_t graphs = 0;
  for (const KeptActivity& launch : output->of(DeviceRole::pending)) graphs += launch.name == "CUDA graph 2";
  EXPECT_EQ(static_cast<int64_t>(graphs), counted("call cudaGraphLaunch"));
  EXPECT_EQ(output->lossOf(DeviceLoss::buffers_full), 0u);
}

TEST_F(CuptiCounts, OnlyWhatIsAskedForIsRecorded) {
  request.activities = {Type::CONCURRENT_KERNEL};
  request.memory = false;
  watch();
  EXPECT_EQ(output->of(DeviceRole::work).size(), 55u);
  EXPECT_EQ(output->all().size(), 55u + output->of(DeviceRole::graph_node).size());
}

}  // namespace
}  // namespace xsigma::profiler::testing
