// Time never runs backwards, not even where two pieces of the conversion meet, whatever the clock pairs are.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "capture/tick_clock.h"

namespace xsigma::profiler::capture {
namespace {

struct RandomClock {
  explicit RandomClock(unsigned seed) : random(seed) {
    base::ClockPair at{random() % 1'000'000'000, static_cast<int64_t>(random() % 1'000'000'000)};
    const size_t count = 1 + random() % 20;
    for (size_t i = 0; i < count; ++i) {
      pairs.push_back(at);
      if (random() % 8 == 0) pairs.push_back({at.ticks + 5, at.monotonic_ns - 3'000'000});  // turns back: to be left out
      if (random() % 8 == 0) pairs.push_back({at.ticks + 7, at.monotonic_ns + 100});        // too close for a rate
      const uint64_t ns = 1000 + random() % 5'000'000'000;
      const uint64_t percent = 1 + random() % 500;  // of the rate: from 10 MHz to 5 GHz
      at.ticks += 10 + ns * percent / 100;
      at.monotonic_ns += static_cast<int64_t>(ns);
    }
    std::shuffle(pairs.begin(), pairs.end(), random);
  }
  std::mt19937_64 random;
  std::vector<base::ClockPair> pairs;
};

TEST(TickClockPieces, TimeNeverRunsBackwards) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomClock made(seed);
    const TickClock clock(made.pairs, 1 + static_cast<uint32_t>(made.random() % 5'000'000));
    std::vector<uint64_t> ticks;
    for (const base::ClockPair& pair : made.pairs) {
      for (const uint64_t near : {0, 1, 2, 3, 1000}) {
        ticks.push_back(pair.ticks + near);
        if (pair.ticks >= near) ticks.push_back(pair.ticks - near);
      }
    }
    for (int i = 0; i < 200; ++i) ticks.push_back(made.random() % (ticks.front() + 100'000'000'000));
    std::sort(ticks.begin(), ticks.end());
    int64_t before = INT64_MIN;
    for (const uint64_t tick : ticks) {
      const int64_t ns = clock.toMonotonicNs(tick);
      ASSERT_GE(ns, before) << "seed " << seed << ", tick " << tick;
      before = ns;
    }
  }
}

TEST(TickClockPieces, APieceServesExactlyTheTicksThatItHolds) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    RandomClock made(seed);
    const TickClock clock(made.pairs, 1'000'000);
    for (int i = 0; i < 200; ++i) {
      const uint64_t tick = made.random() % 50'000'000'000;
      const TickClock::Piece piece = clock.pieceOf(tick);
      ASSERT_TRUE(piece.holds(tick)) << "seed " << seed << ", tick " << tick;
      ASSERT_EQ(piece.toNs(tick), clock.toMonotonicNs(tick));
      if (piece.end_tick == UINT64_MAX) continue;
      ASSERT_FALSE(piece.holds(piece.end_tick));
      ASSERT_EQ(piece.toNs(piece.end_tick - 1), clock.toMonotonicNs(piece.end_tick - 1));
      ASSERT_NE(clock.pieceOf(piece.end_tick).first_tick, piece.first_tick);
    }
  }
}

TEST(TickClockPieces, EveryPairThatCountsIsMetExactly) {
  const TickClock clock({{1000, 10'000'000}, {5'000'001'000, 2'010'000'000}, {6'000'000'000, 9'000'000'000}}, 1'000'000);
  EXPECT_EQ(clock.toMonotonicNs(1000), 10'000'000);
  EXPECT_EQ(clock.toMonotonicNs(5'000'001'000), 2'010'000'000);
  EXPECT_EQ(clock.toMonotonicNs(6'000'000'000), 9'000'000'000);
}

}  // namespace
}  // namespace xsigma::profiler::capture
