// What hardware counters count on a card.
#include "counted_card.h"

#include <thread>

namespace {

using namespace counted_card;
using ptx_card::Card;

class Counters : public CountedCard {};

TEST_F(Counters, OfEachKernelAreItsOwn) {
  const Card card;
  XSIGMA_COUNT_OR_SKIP(configOf(kBlocks, true));
  for (unsigned i = 1; i <= 100; ++i) card.launch(i % 2 == 0 ? card.beta : card.alpha, 3 * i);
  card.wait();
  const std::vector<Json> ranges = end().ranges();
  ASSERT_EQ(ranges.size(), 100u);
  for (unsigned i = 1; i <= 100; ++i) {
    EXPECT_EQ(ranges[i - 1]["name"].text, i % 2 == 0 ? "beta" : "alpha");
    EXPECT_EQ(blocksOf(ranges[i - 1]), 3 * i);
  }
}

TEST_F(Counters, ThatNeedSeveralPassesAreOfTheSameKernel) {
  const Card card;
  XSIGMA_COUNT_OR_SKIP(configOf({kBlocks[0], "dram__bytes_read.sum", "lts__t_sectors.sum", "smsp__inst_executed.sum",
                                 "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
                                true));
  for (unsigned i = 1; i <= 10; ++i) card.launch(card.alpha, i);
  card.wait();
  const std::vector<Json> ranges = end().ranges();
  ASSERT_EQ(ranges.size(), 10u);
  for (unsigned i = 1; i <= 10; ++i) {
    EXPECT_EQ(blocksOf(ranges[i - 1]), i);
    EXPECT_EQ(ranges[i - 1]["args"].members.size(), 5u);
    EXPECT_GE(ranges[i - 1]["args"]["smsp__inst_executed.sum"].number, i) << "a warp for each block, which does nothing but return";
  }
}

TEST_F(Counters, OfThreadsThatLaunchAtOnceKeepTheirNames) {
  const Card card;
  XSIGMA_COUNT_OR_SKIP(configOf(kBlocks, true));
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&card, t] {
      ptx_card::check(ptx_card::driver()->cuCtxSetCurrent(card.context), "cuCtxSetCurrent");
      for (int i = 0; i < 40; ++i) card.launch(t % 2 == 0 ? card.alpha : card.beta, t % 2 == 0 ? 100 : 200);
    });
  }
  for (std::thread& thread : threads) thread.join();
  card.wait();
  const std::vector<Json> ranges = end().ranges();
  EXPECT_EQ(ranges.size(), 160u);
  for (const Json& range : ranges) EXPECT_EQ(blocksOf(range), range["name"].text == "alpha" ? 100 : 200);
}

TEST_F(Counters, OfAContextThatComesUpLaterAreThereToo) {
  CUdevice device = 0;
  ptx_card::check(ptx_card::driver()->cuDeviceGet(&device, 0), "cuDeviceGet");
  ptx_card::check(ptx_card::driver()->cuDevicePrimaryCtxReset_v2(device), "cuDevicePrimaryCtxReset");
  XSIGMA_COUNT_OR_SKIP(configOf(kBlocks, true));
  const Card card;
  for (unsigned i = 1; i <= 3; ++i) card.launch(card.alpha, i);
  card.wait();
  const std::vector<Json> ranges = end().ranges();
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(blocksOf(ranges[2]), 3);
}

TEST_F(Counters, OfASessionAreTheSumOfItsKernels) {
  const Card card;
  card.launch(card.alpha, 1000);
  card.wait();
  XSIGMA_COUNT_OR_SKIP(configOf(kBlocks, false));
  for (unsigned i = 1; i <= 10; ++i) card.launch(card.alpha, i);
  card.wait();
  const std::vector<Json> ranges = end().ranges();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0]["name"].text, "session");
  EXPECT_EQ(blocksOf(ranges[0]), 55);
}

TEST_F(Counters, OfASessionLeaveOutWhatRunsWhileTheDeviceIsOff) {
  const Card card;
  XSIGMA_COUNT_OR_SKIP(configOf(kBlocks, false));
  for (unsigned i = 1; i <= 10; ++i) card.launch(card.alpha, i);
  card.wait();
  toggleCollectionDynamic(false, {ActivityType::CUDA});
  card.launch(card.alpha, 1000);
  card.wait();
  toggleCollectionDynamic(true, {ActivityType::CUDA});
  for (unsigned i = 1; i <= 4; ++i) card.launch(card.beta, 100);
  card.wait();
  const std::vector<Json> ranges = end().ranges();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(blocksOf(ranges[0]), 55);
  EXPECT_EQ(ranges[1]["name"].text, "session 2");
  EXPECT_EQ(blocksOf(ranges[1]), 400);
}

TEST_F(Counters, AsSamplesShowWhenTheDeviceWasBusy) {
  const Card card;
  XSIGMA_COUNT_OR_SKIP(configOf({"sm__cycles_active.avg"}, false, milliseconds(1)));
  usleep(50'000);
  card.launchSpin(200'000'000, 264);
  card.wait();
  usleep(50'000);
  size_t busy = 0;
  double first = 0;
  double last = 0;
  for (const auto& [time, cycles] : end().samples("sm__cycles_active.avg")) {
    if (cycles < 1000) continue;
    if (busy++ == 0) first = time;
    last = time;
  }
  EXPECT_GE(busy, 150u);
  EXPECT_NEAR(last - first, 200'000, 20'000) << "microseconds from the first busy sample to the last";
}

// Launches, then what both have to say of how many blocks there were.
class CountersBesideRecords : public CountedCard {
 protected:
  static constexpr unsigned kLaunches = 20;
  static constexpr double kAllBlocks = kLaunches * (kLaunches + 1) / 2;

  static Recorded recordLaunches(const Card& card) {
    usleep(30'000);  // the first sample is left out
    for (unsigned i = 1; i <= kLaunches; ++i) card.launch(card.alpha, i);
    card.wait();
    usleep(30'000);
    return end();
  }
  static void expectAllKernels(const Recorded& recorded) {
    const std::vector<Json> kernels = recorded.kernels();
    EXPECT_EQ(kernels.size(), size_t{kLaunches});
    double blocks = 0;
    for (const Json& kernel : kernels) {
      EXPECT_EQ(kernel["name"].text, "alpha");
      if (!kernel["args"]["grid"].items.empty()) blocks += kernel["args"]["grid"].items[0].number;
    }
    EXPECT_EQ(blocks, kAllBlocks);
    EXPECT_EQ(recorded.ledger.device.launched, size_t{kLaunches});
    EXPECT_EQ(recorded.ledger.device.kernels, size_t{kLaunches});
    EXPECT_TRUE(recorded.ledger.whole());
  }
};

// CUPTI 13.0 gives no records of kernels while it counts each: the ranges take their place.
TEST_F(CountersBesideRecords, OfEachKernelTellTheSame) {
  const Card card;
  XSIGMA_COUNT_OR_SKIP(configOf(kBlocks, true));
  const Recorded recorded = recordLaunches(card);
  const std::vector<Json> kernels = recorded.kernels();
  const std::vector<Json> ranges = recorded.ranges();
  ASSERT_EQ(ranges.size(), size_t{kLaunches});
  if (!kernels.empty()) expectAllKernels(recorded);
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(blocksOf(ranges[i]), i + 1);
    if (i < kernels.size()) {
      EXPECT_EQ(kernels[i]["args"]["grid"].items.at(0).number, i + 1);
    }
  }
  EXPECT_TRUE(recorded.ledger.whole());
}

TEST_F(CountersBesideRecords, OfASessionTellTheSame) {
  const Card card;
  XSIGMA_COUNT_OR_SKIP(configOf(kBlocks, false));
  const Recorded recorded = recordLaunches(card);
  expectAllKernels(recorded);
  ASSERT_EQ(recorded.ranges().size(), 1u);
  EXPECT_EQ(blocksOf(recorded.ranges()[0]), kAllBlocks);
}

TEST_F(CountersBesideRecords, AsSamplesTellTheSame) {
  const Card card;
  XSIGMA_COUNT_OR_SKIP(configOf(kBlocks, false, milliseconds(1)));
  const Recorded recorded = recordLaunches(card);
  expectAllKernels(recorded);
  double blocks = 0;
  for (const auto& [time, value] : recorded.samples(kBlocks[0])) blocks += value;
  EXPECT_EQ(blocks, kAllBlocks);
}

}  // namespace
