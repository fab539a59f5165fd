// A launch of a graph is told once, however many there are and however its nodes come.
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "backends/cupti/graph_runs.h"
#include "kept_output.h"

namespace xsigma::profiler::backends::cupti {
namespace {

class CuptiGraphRuns : public ::testing::Test {
 protected:
  testing::KeptOutput output;
  GraphRuns runs{output};

  void add(uint32_t launch, uint64_t start, GraphRuns::Node kind = GraphRuns::kKernel) {
    runs.add(WorkRecord{.start = start, .end = start + 10, .correlation = launch, .graph = 5}, kind, true);
  }
  size_t told() { return output.of(DeviceRole::work).size(); }
};

TEST_F(CuptiGraphRuns, AreToldWhenNothingMoreCame) {
  add(1, 100);
  add(1, 200, GraphRuns::kCopy);
  for (int i = 0; i < 2; ++i) {
    runs.tick();
    EXPECT_EQ(told(), 0u) << "more may come";
  }
  add(1, 300);
  for (int i = 0; i < 3; ++i) runs.tick();
  ASSERT_EQ(told(), 1u);
  const testing::KeptActivity run = output.of(DeviceRole::work)[0];
  EXPECT_EQ(run.told.start, 100u);
  EXPECT_EQ(run.told.end, 310u);
  EXPECT_EQ(run.values[5], 2) << "kernels";
  EXPECT_EQ(run.values[6], 1) << "copies";
}

TEST_F(CuptiGraphRuns, OfOnePeriodAreKeptApartByTheThousands) {
  constexpr uint32_t kLaunches = 60'000;
  const auto begun = std::chrono::steady_clock::now();
  for (uint32_t node = 0; node < 2; ++node) {
    for (uint32_t launch = 1; launch <= kLaunches; ++launch) add(launch, launch * 100 + node * 20);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5)) << "each looked through all the others";
  runs.finish();
  EXPECT_EQ(told(), size_t{kLaunches});
}

TEST_F(CuptiGraphRuns, AreAtMostSoManyAtATime) {
  constexpr uint32_t kLaunches = 200'000;
  for (uint32_t launch = 1; launch <= kLaunches; ++launch) add(launch, launch);
  EXPECT_GE(told(), kLaunches / 2);
  runs.finish();
  std::set<uint64_t> launches;
  for (const testing::KeptActivity& run : output.of(DeviceRole::work)) launches.insert(run.told.correlation);
  EXPECT_EQ(launches.size(), size_t{kLaunches});
}

}  // namespace
}  // namespace xsigma::profiler::backends::cupti
