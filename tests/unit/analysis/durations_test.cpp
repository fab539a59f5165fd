// Statistics, beside a plain sort.
#include "analysis/durations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace xsigma::profiler::analysis {
namespace {

Statistics of(const std::vector<int64_t>& values) {
  Durations durations;
  for (const int64_t value : values) durations.add(value);
  return durations.statistics();
}

double sortedQuantile(std::vector<int64_t> values, double share) {
  std::sort(values.begin(), values.end());
  const double rank = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(std::floor(rank));
  const size_t above = std::min(below + 1, values.size() - 1);
  return static_cast<double>(values[below]) + (rank - std::floor(rank)) * static_cast<double>(values[above] - values[below]);
}

TEST(Durations, OfNothingAreZero) {
  EXPECT_EQ(of({}).max, 0);
  EXPECT_EQ(of({}).median, 0);
}

TEST(Durations, OfOneCallAreThatCall) {
  const Statistics one = of({42});
  EXPECT_EQ(one.min, 42);
  EXPECT_EQ(one.max, 42);
  EXPECT_EQ(one.mean, 42);
  EXPECT_EQ(one.median, 42);
  EXPECT_EQ(one.p95, 42);
  EXPECT_EQ(one.p99, 42);
  EXPECT_EQ(one.stddev, 0);
}

TEST(Durations, ByHand) {
  const Statistics some = of({40, 10, 30, 20});
  EXPECT_EQ(some.min, 10);
  EXPECT_EQ(some.max, 40);
  EXPECT_EQ(some.mean, 25);
  EXPECT_EQ(some.median, 25);
  EXPECT_DOUBLE_EQ(some.p95, 38.5);  // 2.85 of the way: 30 + 0.85 · 10
  EXPECT_DOUBLE_EQ(some.p99, 39.7);
  EXPECT_DOUBLE_EQ(some.stddev, std::sqrt(125.0));
}

TEST(Durations, OfAHundredInOrder) {
  std::vector<int64_t> values(101);
  std::iota(values.begin(), values.end(), 1000);
  const Statistics all = of(values);
  EXPECT_EQ(all.median, 1050);
  EXPECT_EQ(all.p95, 1095);
  EXPECT_EQ(all.p99, 1099);
}

TEST(Durations, EqualASortWhateverTheirNumberAndSpread) {
  std::mt19937_64 random(7);
  for (const size_t count : {2u, 9u, 4095u, 4096u, 4097u, 50'000u}) {
    for (const unsigned bits : {1u, 4u, 9u, 12u, 33u, 62u}) {
      std::vector<int64_t> values(count);
      for (int64_t& value : values) value = static_cast<int64_t>(random() >> (64 - bits));
      const Statistics found = of(values);
      EXPECT_DOUBLE_EQ(found.median, sortedQuantile(values, 0.5)) << count << " of " << bits << " bits";
      EXPECT_DOUBLE_EQ(found.p95, sortedQuantile(values, 0.95)) << count << " of " << bits << " bits";
      EXPECT_DOUBLE_EQ(found.p99, sortedQuantile(values, 0.99)) << count << " of " << bits << " bits";
      EXPECT_EQ(found.min, *std::min_element(values.begin(), values.end()));
      EXPECT_EQ(found.max, *std::max_element(values.begin(), values.end()));
    }
  }
}

TEST(Durations, TheLargestThereIsHasAPlace) { EXPECT_EQ(of(std::vector<int64_t>(5000, INT64_MAX)).median, static_cast<double>(INT64_MAX)); }

TEST(Durations, OneLongCallAmongMillionsOfShortOnes) {
  Durations durations;
  durations.add(3'600'000'000'000);  // an hour
  for (int i = 0; i < 3'000'000; ++i) durations.add(100);
  const Statistics found = durations.statistics();
  EXPECT_NEAR(found.mean, 1'200'099.6, 0.1);
  EXPECT_NEAR(found.stddev, 3'599'999'999'900 / std::sqrt(3'000'001.0), 1000);
  EXPECT_EQ(found.max, 3'600'000'000'000);
  EXPECT_EQ(found.p99, 100);
}

TEST(Durations, EqualOnesDoNotDeviate) { EXPECT_EQ(of(std::vector<int64_t>(10'000, 123'456'789'012)).stddev, 0); }

}  // namespace
}  // namespace xsigma::profiler::analysis
