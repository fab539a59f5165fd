// Work that several threads share and that comes out in one order.
#include "base/ordered_work.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace xsigma::profiler::base {
namespace {

// What would hang ends the program instead, and ctest says which test it was.
class OrderedWork : public testing::Test {
 protected:
  OrderedWork() { alarm(60); }
  ~OrderedWork() override { alarm(0); }
};

using Lengths = std::vector<size_t>;
struct Given {
  size_t lane;
  size_t number;
  bool operator==(const Given&) const = default;
};

// The items of each lane, as they are given out.
std::vector<Given> giveAll(const Lengths& lengths, unsigned workers, size_t most = SIZE_MAX) {
  struct Item {
    Given what{};
    bool worked = false;
  };
  std::vector<size_t> taken(lengths.size());
  std::vector<std::atomic<bool>> busy(lengths.size());
  std::vector<Given> given;
  std::atomic<bool> giving{false};
  orderedWork<Item>(
      lengths.size(), workers,
      [&](size_t lane, Item& item) {
        EXPECT_FALSE(busy[lane].exchange(true)) << "two threads take from a lane at once";
        const bool more = taken[lane] < lengths[lane];
        if (more) item = {{lane, taken[lane]++}, false};
        busy[lane] = false;
        return more;
      },
      [&](unsigned worker, Item& item) {
        EXPECT_LT(worker, workers);
        // Some take longer, so that the threads overtake each other.
        if ((item.what.number * 7 + item.what.lane) % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
        item.worked = true;
      },
      [&](Item& item) {
        EXPECT_FALSE(giving.exchange(true)) << "two are given out at once";
        EXPECT_TRUE(item.worked);
        if (item.what.number % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
        given.push_back(item.what);
        giving = false;
        return given.size() < most;
      });
  return given;
}

TEST_F(OrderedWork, ComesOutInOneOrderWhateverTheNumberOfThreads) {
  const Lengths lengths = {30, 1, 0, 17, 100};
  const std::vector<Given> alone = giveAll(lengths, 1);
  ASSERT_EQ(alone.size(), 148u);
  for (unsigned workers = 2; workers <= 8; ++workers) EXPECT_EQ(giveAll(lengths, workers), alone) << workers << " workers";
}

TEST_F(OrderedWork, KeepsTheOrderOfEveryLaneAndMissesNothing) {
  const Lengths lengths = {5, 60, 2};
  for (unsigned workers = 1; workers <= 8; ++workers) {
    std::vector<size_t> next(lengths.size());
    for (const Given& item : giveAll(lengths, workers)) EXPECT_EQ(item.number, next[item.lane]++);
    EXPECT_EQ(next, lengths) << workers << " workers";
  }
}

TEST_F(OrderedWork, DoesNothingWithoutLanesAndWithEmptyOnes) {
  EXPECT_TRUE(giveAll({}, 4).empty());
  EXPECT_TRUE(giveAll({0, 0, 0}, 4).empty());
}

TEST_F(OrderedWork, StopsAsSoonAsTheReceiverHasEnough) {
  for (unsigned workers = 1; workers <= 8; ++workers) EXPECT_EQ(giveAll({10'000, 10'000}, workers, 7).size(), 7u) << workers << " workers";
}

TEST_F(OrderedWork, NoMoreThanTheStatedPlacesAreInUse) {
  for (unsigned workers = 1; workers <= 4; ++workers) {
    std::atomic<int> in_use{0};
    std::atomic<int> most{0};
    size_t left = 500;
    runOrdered(1, workers,
               {[&](size_t, size_t place) {
                  EXPECT_LT(place, orderedPlaces(workers));
                  if (left == 0) return false;
                  --left;
                  const int now = ++in_use;
                  if (now > most) most = now;
                  return true;
                },
                [](unsigned, size_t) {},
                [&](size_t) {
                  --in_use;
                  return true;
                }});
    EXPECT_EQ(in_use, 0);
    EXPECT_LE(most, static_cast<int>(orderedPlaces(workers)));
  }
}

// In which of the three steps something goes wrong.
class OrderedWorkFails : public OrderedWork, public testing::WithParamInterface<int> {};

TEST_P(OrderedWorkFails, AndSaysSoToTheCallerWithoutHanging) {
  for (unsigned workers = 1; workers <= 8; ++workers) {
    std::vector<int> taken(3);
    std::atomic<int> worked{0};
    std::atomic<int> given{0};
    const auto fail = [&](int step) {
      if (GetParam() == step) throw std::runtime_error("step " + std::to_string(step));
    };
    const auto run = [&] {
      runOrdered(3, workers,
                 {[&](size_t lane, size_t) {
                    if (++taken[lane] == 20 && lane == 1) fail(0);
                    return taken[lane] < 100;
                  },
                  [&](unsigned, size_t) {
                    if (++worked == 40) fail(1);
                  },
                  [&](size_t) {
                    if (++given == 40) fail(2);
                    return true;
                  }});
    };
    try {
      run();
      FAIL() << "nothing was thrown with " << workers << " workers";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "step " + std::to_string(GetParam()));
    }
    EXPECT_LE(given, 60);
  }
}
INSTANTIATE_TEST_SUITE_P(Steps, OrderedWorkFails, testing::Values(0, 1, 2));

TEST_F(OrderedWork, EveryWorkerRunsAndTheFirstErrorComesOut) {
  std::atomic<unsigned> seen{0};
  runOnWorkers(4, [&](unsigned worker) { seen |= 1u << worker; });
  EXPECT_EQ(seen, 0b1111u);
  EXPECT_THROW(runOnWorkers(3,
                            [](unsigned worker) {
                              if (worker == 2) throw std::logic_error("no");
                            }),
               std::logic_error);
}

TEST_F(OrderedWork, ThinksBetweenOneAndEightThreadsUseful) {
  EXPECT_GE(usefulWorkers(), 1u);
  EXPECT_LE(usefulWorkers(), 8u);
}

}  // namespace
}  // namespace xsigma::profiler::base
