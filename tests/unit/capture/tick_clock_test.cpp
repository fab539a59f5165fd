// Ticks to nanoseconds, piece by piece.
#include "capture/tick_clock.h"

#include <gtest/gtest.h>

namespace xsigma::profiler::capture {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(TickClock, GoesByTheRateWhereThereIsOnePair) {
  const TickClock clock({{1000, 5 * kSecond}}, 2'000'000);  // 2 ticks per ns
  EXPECT_EQ(clock.toMonotonicNs(1000), 5 * kSecond);
  EXPECT_EQ(clock.toMonotonicNs(3000), 5 * kSecond + 1000);
  EXPECT_EQ(clock.toMonotonicNs(0), 5 * kSecond - 500);
}

TEST(TickClock, FollowsEveryPieceAndGoesOnBeyondTheLast) {
  // 1 tick per ns in the first second, 2 in the next.
  const TickClock clock({{0, 0}, {1'000'000'000, kSecond}, {3'000'000'000, 2 * kSecond}}, 1'000'000);
  EXPECT_EQ(clock.toMonotonicNs(500'000'000), kSecond / 2);
  EXPECT_EQ(clock.toMonotonicNs(2'000'000'000), kSecond + kSecond / 2);
  EXPECT_EQ(clock.toMonotonicNs(5'000'000'000), 3 * kSecond);
}

TEST(TickClock, LeavesOutPairsThatRunBackwards) {
  const TickClock clock({{0, 0}, {2'000'000'000, 2 * kSecond}, {1'000'000'000, 7 * kSecond}}, 1'000'000);
  EXPECT_LE(clock.toMonotonicNs(500'000'000), clock.toMonotonicNs(1'500'000'000));
  EXPECT_LE(clock.toMonotonicNs(1'500'000'000), clock.toMonotonicNs(2'500'000'000));
}

TEST(TickClock, DoesNotTakeARateFromPairsThatAreTooClose) {
  const TickClock clock({{0, 0}, {1000, 900'000}}, 1'000'000);  // an interruption between the two reads of the second pair
  EXPECT_EQ(clock.toMonotonicNs(500), 500);
}

TEST(TickClock, WithoutPairsOrRateStillAnswers) { EXPECT_EQ(TickClock({}, 0).toMonotonicNs(42), 42); }

}  // namespace
}  // namespace xsigma::profiler::capture
