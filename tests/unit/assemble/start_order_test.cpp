// The order of events by start, beside a stable sort.
#include "assemble/start_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace xsigma::profiler::assemble {
namespace {

TEST(StartOrder, EqualsAStableSortWhateverTheSpread) {
  std::mt19937_64 random(11);
  for (const size_t count : {0u, 1u, 2u, 2047u, 2048u, 30'000u}) {
    for (const unsigned bits : {0u, 1u, 11u, 12u, 40u, 63u}) {
      std::vector<StartPlace> places(count);
      for (uint32_t i = 0; i < count; ++i) places[i] = {bits == 0 ? 7 : (random() >> (64 - bits)) + 1'000'000, i / 100, i};
      std::vector<StartPlace> expected = places;
      std::stable_sort(expected.begin(), expected.end(), [](const StartPlace& a, const StartPlace& b) { return a.start < b.start; });
      sortByStart(places);
      ASSERT_EQ(places.size(), expected.size());
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(places[i].start, expected[i].start) << count << " of " << bits << " bits, at " << i;
        ASSERT_EQ(places[i].event, expected[i].event) << count << " of " << bits << " bits, at " << i;
      }
    }
  }
}

}  // namespace
}  // namespace xsigma::profiler::assemble
