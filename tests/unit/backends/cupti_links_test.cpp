// Who asked for what: from work on the device to the call, the thread, the node of a graph, the event that was waited for.
#include <set>

#include "watched_cupti.h"

namespace xsigma::profiler::testing {
namespace {

class CuptiLinks : public WatchedCupti {
 protected:
  std::map<uint64_t, KeptActivity> callsByCorrelation() {
    std::map<uint64_t, KeptActivity> calls;
    for (const KeptActivity& call : output->of(DeviceRole::call)) {
      EXPECT_TRUE(calls.emplace(call.told.correlation, call).second) << "two calls of one correlation: " << call.name;
    }
    return calls;
  }
};

TEST_F(CuptiLinks, EveryPieceOfWorkHasTheCallThatAskedForIt) {
  watch();
  const auto calls = callsByCorrelation();
  for (const KeptActivity& work : output->of(DeviceRole::work)) {
    const auto call = calls.find(work.told.correlation);
    ASSERT_NE(call, calls.end()) << work.name;
    EXPECT_FALSE(call->second.told.failed);
    EXPECT_GT(work.told.start, call->second.told.start) << work.name;
    EXPECT_GE(work.told.end, work.told.start);
  }
}

TEST_F(CuptiLinks, WorkIsAskedForByTheRightFunction) {
  watch();
  const auto calls = callsByCorrelation();
  std::map<std::string, std::set<std::string>> functions;
  for (const KeptActivity& work : output->of(DeviceRole::work)) functions[work.name].insert(calls.at(work.told.correlation).name);
  EXPECT_EQ(functions["fromTheDriver"], (std::set<std::string>{"cuLaunchKernel"}));
  EXPECT_EQ(functions["together(float*)"], (std::set<std::string>{"cudaLaunchCooperativeKernel"}));
  EXPECT_EQ(functions["follower(float*)"], (std::set<std::string>{"cudaLaunchKernelExC"}));
  EXPECT_EQ(functions["alpha(float*, int)"], (std::set<std::string>{"cudaGraphLaunch", "cudaLaunchKernel"}));
  EXPECT_EQ(functions["Memset (Device)"], (std::set<std::string>{"cudaGraphLaunch", "cudaMemset", "cudaMemsetAsync"}));
}

TEST_F(CuptiLinks, ALaunchThatFailedAskedForNothing) {
  watch();
  int failed = 0;
  for (const KeptActivity& call : output->of(DeviceRole::call)) {
    if (!call.told.failed) continue;
    ++failed;
    EXPECT_EQ(call.name, "cudaLaunchKernel");
    for (const KeptActivity& work : output->of(DeviceRole::work)) EXPECT_NE(work.told.correlation, call.told.correlation);
  }
  EXPECT_EQ(failed, counted("failed launches"));
}

TEST_F(CuptiLinks, CallsAreOnTheThreadThatMadeThem) {
  const auto recorded = standin::recordedThreads();
  watch({.ids = {{recorded.at("main"), 77001}, {recorded.at("second"), 77002}}});
  std::map<int64_t, int> launches;
  for (const KeptActivity& call : output->of(DeviceRole::call)) {
    EXPECT_EQ(call.told.process_id, getpid());
    if (call.name == "cudaLaunchKernel") ++launches[call.told.thread_id];
  }
  EXPECT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[77002], counted("launches of the second thread"));
}

TEST_F(CuptiLinks, KernelsOfAGraphNameTheNodeAndTheNodeItsOrigin) {
  watch();
  std::map<uint64_t, uint64_t> origins;
  std::set<uint64_t> created;
  for (const KeptActivity& node : output->of(DeviceRole::graph_node)) {
    if (node.told.origin != 0) origins[node.told.node] = node.told.origin;
    created.insert(node.told.node);
  }
  std::map<uint64_t, int> runs;
  for (const KeptActivity& work : output->of(DeviceRole::work)) {
    if (work.told.node != 0) ++runs[work.told.node];
  }
  ASSERT_EQ(runs.size(), 4u) << "three kernels and a fill";
  for (const auto& [node, count] : runs) {
    EXPECT_EQ(count, counted("call cudaGraphLaunch"));
    ASSERT_EQ(origins.count(node), 1u) << node;
    EXPECT_EQ(created.count(origins[node]), 1u) << "what was captured was told of, too";
  }
}

TEST_F(CuptiLinks, AGraphNodeIsToldWithTheTimeAndTheThreadOfItsMaking) {
  ticks = 4242;
  watch();
  ASSERT_FALSE(output->of(DeviceRole::graph_node).empty());
  for (const KeptActivity& node : output->of(DeviceRole::graph_node)) {
    EXPECT_EQ(node.told.start, 4242u);
    EXPECT_EQ(node.told.thread_id, gettid());
    EXPECT_EQ(node.told.process_id, getpid());
  }
}

TEST_F(CuptiLinks, AWaitNamesTheRecordOfItsEvent) {
  watch();
  std::set<uint64_t> records;
  for (const KeptActivity& note : output->of(DeviceRole::note)) {
    if (note.name == "cudaEvent") records.insert(note.told.correlation);
  }
  int waits = 0;
  for (const KeptActivity& note : output->of(DeviceRole::note)) {
    if (note.name != "Stream Wait Event") continue;
    ++waits;
    ASSERT_EQ(note.values.size(), 8u) << note.args;
    EXPECT_EQ(note.values[1], 13) << "the stream that the event was recorded on";
    EXPECT_EQ(records.count(static_cast<uint64_t>(note.values[2])), 1u) << note.args;
    EXPECT_EQ(static_cast<uint64_t>(note.values[2]) + 1, note.told.correlation) << "each waits for the one just before it";
  }
  EXPECT_EQ(waits, 4);
}

TEST_F(CuptiLinks, WorkIsOnItsDeviceAndStream) {
  watch();
  std::map<int64_t, int> by_stream;
  for (const KeptActivity& work : output->of(DeviceRole::work)) {
    EXPECT_EQ(work.told.process_id, 0);
    if (work.name == "gammaRays(float*)") ++by_stream[work.told.thread_id];
  }
  EXPECT_EQ(by_stream, (std::map<int64_t, int>{{7, 2}, {14, 4}, {15, 6}}))
      << "the default stream, one of the program's, and that of the second thread";
}

TEST_F(CuptiLinks, TimesAreThoseOfTheCapturesClock) {
  watch();
  EXPECT_TRUE(output->pairs.empty());
  uint64_t earliest = ~uint64_t{0};
  for (const KeptActivity& work : output->of(DeviceRole::work)) {
    EXPECT_EQ(work.told.clock, kHostClock);
    earliest = std::min(earliest, work.told.start);
  }
  EXPECT_EQ(earliest, 179591968081u) << "the first alpha, as recorded";
}

}  // namespace
}  // namespace xsigma::profiler::testing
