// What counters do on a card when something is in their way, and what they leave behind.
#include <algorithm>

#include "counted_card.h"
#include "one_core.h"

namespace {

using namespace counted_card;
using ptx_card::Card;
using Clock = std::chrono::steady_clock;

class CounterLimits : public CountedCard {};

TEST_F(CounterLimits, AnUnknownMetricIsRefusedWithTheNameThatWasMeant) {
  const Card card;
  for (const microseconds interval : {microseconds(0), microseconds(1000)}) {
    expectRefused(configOf({"sm__ctas_lunched.sum"}, false, interval), {"sm__ctas_launched.sum"});
  }
  expectRefused(configOf({"sm__ctas_launched"}, true), {"is not complete", "sm__ctas_launched.sum"});
}

TEST_F(CounterLimits, TooManyPassesAreRefusedWithWhatFits) {
  const Card card;
  expectRefused(configOf({kBlocks[0], "dram__bytes_read.sum", "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                          "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
                         false),
                {"passes", "Into one pass fit " + kBlocks[0], "leave out"});
}

// Three kernels of 5, 10 and 15 blocks.
struct Graph {
  CUstream stream = nullptr;
  CUgraphExec ready = nullptr;

  explicit Graph(const Card& card) {
    const ptx_card::Driver& d = *ptx_card::driver();
    CUgraph captured = nullptr;
    ptx_card::check(d.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    ptx_card::check(d.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
    for (unsigned i = 1; i <= 3; ++i) card.launch(card.alpha, 5 * i, stream);
    ptx_card::check(d.cuStreamEndCapture(stream, &captured), "cuStreamEndCapture");
    ptx_card::check(d.cuGraphInstantiateWithFlags(&ready, captured, 0), "cuGraphInstantiate");
  }
  void launch() const {
    ptx_card::check(ptx_card::driver()->cuGraphLaunch(ready, stream), "cuGraphLaunch");
    ptx_card::check(ptx_card::driver()->cuStreamSynchronize(stream), "cuStreamSynchronize");
  }
};

// Blocks: 7, the graph's 5 + 10 + 15, and 8.
void launchAround(const Graph& graph, const Card& card) {
  card.launch(card.beta, 7);
  graph.launch();
  card.launch(card.beta, 8);
  card.wait();
}

TEST_F(CounterLimits, AGraphIsInTheSumOfASession) {
  const Card card;
  const Graph graph(card);
  XSIGMA_COUNT_OR_SKIP(configOf(kBlocks, false));
  launchAround(graph, card);
  const std::vector<Json> ranges = end().ranges();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(blocksOf(ranges[0]), 7 + 30 + 8);
}

TEST_F(CounterLimits, KernelsOfAGraphAreCountedOrItIsSaidThatTheyAreNot) {
  const Card card;
  const Graph graph(card);
  XSIGMA_COUNT_OR_SKIP(configOf(kBlocks, true));
  launchAround(graph, card);
  const Recorded recorded = end();
  std::vector<double> of_kernels;
  std::vector<double> of_graph;
  for (const Json& range : recorded.ranges()) {
    const bool is_graph = range["name"].text.rfind("graph", 0) == 0;
    std::printf("%s: %g blocks\n", range["name"].text.c_str(), blocksOf(range));
    (is_graph ? of_graph : of_kernels).push_back(blocksOf(range));
  }
  const Json& left_out = recorded.trace["xsigmaNotCounted"];
  std::printf("left out: %g launches of graphs, %g of kernels\n", left_out["graphs"].number, left_out["kernels"].number);

  if (left_out["graphs"].number == 0) {
    EXPECT_EQ(of_graph, (std::vector<double>{5, 10, 15}));
  } else {
    EXPECT_EQ(left_out["graphs"].number, 1);
    EXPECT_TRUE(of_graph.empty());
  }
  EXPECT_EQ(static_cast<double>(of_kernels.size()) + left_out["kernels"].number, 2);
  for (const double blocks : of_kernels) EXPECT_TRUE(blocks == 7 || blocks == 8) << blocks << " blocks are another's";
  EXPECT_EQ(recorded.ledger.device.not_counted, static_cast<uint64_t>(left_out["graphs"].number + left_out["kernels"].number));
  EXPECT_TRUE(recorded.kernels().empty() || recorded.kernels().size() == 5) << "CUPTI records none while it counts each, or all";
}

TEST_F(CounterLimits, SamplesThatNobodyCouldFetchInTimeAreRefused) {
  ProfilerConfig config = configOf({"sm__cycles_active.avg"}, false, microseconds(2));
  config.experimental_config.capture.byte_cap = size_t{64} << 20;
  try {
    enableProfiler(config, {ActivityType::CPU, ActivityType::CUDA});
    (void)end();
    ADD_FAILURE() << "two microseconds and " << (config.experimental_config.capture.byte_cap >> 20) << " MiB were accepted";
  } catch (const std::exception& refused) {
    const std::string why = refused.what();
    EXPECT_TRUE(why.find("longer interval") != std::string::npos || why.find("NVreg_RestrictProfilingToAdminUsers") != std::string::npos)
        << why;
  }
}

TEST_F(CounterLimits, SamplesThatComeTooFastAreCountedAsLostAndTheSessionGoesOn) {
  const Card card;
  ProfilerConfig config = configOf({"sm__cycles_active.avg"}, false, microseconds(10));
  config.experimental_config.capture.byte_cap = size_t{64} << 20;
  XSIGMA_COUNT_OR_SKIP(config);
  const auto begun = Clock::now();
  for (int i = 0; i < 100; ++i) card.launch(card.alpha, 1);
  card.launchSpin(300'000'000, 264);
  card.wait();
  for (int i = 0; i < 100; ++i) card.launch(card.beta, 1);
  card.wait();
  const double wanted = secondsSince(begun) / 10e-6;
  const Recorded recorded = end();
  const size_t samples = recorded.samples("sm__cycles_active.avg").size();
  const uint64_t lost = recorded.ledger.device.not_counted;
  std::printf("every 10 us: %zu samples, %llu counted as lost, of about %.0f\n", samples, static_cast<unsigned long long>(lost), wanted);
  EXPECT_GT(samples, 0u);
  EXPECT_GT(static_cast<double>(samples) + static_cast<double>(lost), 0.95 * wanted) << "none is missing unsaid";
  EXPECT_LT(static_cast<double>(samples) + static_cast<double>(lost), 1.2 * wanted) << "and none is invented";
  EXPECT_EQ(recorded.kernels().size(), 201u);
}

TEST_F(CounterLimits, AKernelThatDoesNotEndHoldsNobodyForLongerThanTheDeadline) {
  constexpr double kDeadline = 5;  // of a session for what its devices still have
  const Card card;
  XSIGMA_COUNT_OR_SKIP(configOf(kBlocks, false));
  card.launchSpin(8'000'000'000, 1);
  const auto begun = Clock::now();
  {
    const std::unique_ptr<ProfilerResult> result = disableProfiler();
    const double stopped = secondsSince(begun);
    const Ledger ledger = result->ledger();
    const double read = secondsSince(begun);
    std::printf("stopped after %.3f s, the ledger after %.3f s\n", stopped, read);
    EXPECT_LT(stopped, 1);
    EXPECT_LT(read, kDeadline + 2);
    EXPECT_GE(ledger.device.not_counted, 1u) << "what was counted did not come in time";
  }
  card.wait();
  usleep(500'000);
  ASSERT_TRUE(begin(configOf(kBlocks, true)));
  card.launch(card.beta, 17);
  card.wait();
  const std::vector<Json> ranges = end().ranges();
  ASSERT_EQ(ranges.size(), 1u) << "the next session counts as if nothing had been";
  EXPECT_EQ(blocksOf(ranges[0]), 17);
}

// Nanoseconds on the launching thread: the median of bursts that are short enough for the device's queue.
double costOfALaunch(const Card& card) {
  constexpr int kBursts = 101;
  constexpr int kLaunches = 200;
  std::vector<double> costs;
  for (int burst = 0; burst < kBursts; ++burst) {
    const auto begun = Clock::now();
    for (int i = 0; i < kLaunches; ++i) card.launch(card.alpha, 1);
    costs.push_back(secondsSince(begun) * 1e9 / kLaunches);
    card.wait();
  }
  std::nth_element(costs.begin(), costs.begin() + kBursts / 2, costs.end());
  return costs[kBursts / 2];
}

// The clocks of host and device wander by a tenth within seconds.
double leastCostOfALaunch(const Card& card) {
  double least = costOfALaunch(card);
  for (int i = 0; i < 6; ++i) least = std::min(least, costOfALaunch(card));
  return least;
}

TEST_F(CounterLimits, ALaunchCostsAfterwardsWhatItCostBefore) {
  device_tests::stayOnThisCore();
  const Card card;
  costOfALaunch(card);
  const double before = leastCostOfALaunch(card);
  struct Way {
    const char* name;
    bool per_kernel;
    microseconds interval;
  };
  for (const Way& way :
       {Way{"counters of kernels", true, {}}, Way{"counters of a session", false, {}}, Way{"samples", false, milliseconds(1)}}) {
    XSIGMA_COUNT_OR_SKIP(configOf(kBlocks, way.per_kernel, way.interval));
    for (int i = 0; i < 5; ++i) card.launch(card.alpha, 1);
    card.wait();
    (void)end();
    usleep(200'000);  // what leaves the process does so at the next wait
    card.wait();
    double after = leastCostOfALaunch(card);
    // What stays in the process costs a third, and goes on doing so; what the machine adds comes and goes.
    for (int again = 0; again < 5 && after > 1.1 * before; ++again) after = std::min(after, leastCostOfALaunch(card));
    std::printf("a launch: %.0f ns before, %.0f ns after %s: %.2f\n", before, after, way.name, after / before);
    EXPECT_LE(after, 1.1 * before) << "after " << way.name;
  }
}

}  // namespace
