// MemoryCategoryGuard: a scope like others.
#include "xsigma/profiler/memory_category.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../recorded.h"

namespace xsigma::profiler {
namespace {

using recorded::record;

TEST(MemoryCategoryGuard, StandsInTheTrace) {
  const Capture capture = record([] {
    for (size_t i = 0; i < kMemoryCategories; ++i) const MemoryCategoryGuard guard(static_cast<MemoryCategory>(i));
  });
  std::vector<std::string> expected;
  for (size_t i = 0; i < kMemoryCategories; ++i) {
    expected.push_back(kMemoryCategoryScope + std::string(toString(static_cast<MemoryCategory>(i))));
  }
  EXPECT_EQ(recorded::names(capture), expected);
  EXPECT_EQ(expected[6], "memory category: optimizer_state");
}

}  // namespace
}  // namespace xsigma::profiler
