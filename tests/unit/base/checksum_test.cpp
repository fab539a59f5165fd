// Checksums and checked counters.
#include "base/checksum.h"

#include <gtest/gtest.h>

namespace xsigma::profiler::base {
namespace {

TEST(Checksum, IsTheCommonCrc32) { EXPECT_EQ(crc32("123456789", 9), 0xCBF43926u); }

TEST(Checksum, GoesOnFromASeed) {
  const uint32_t first = crc32("1234", 4);
  EXPECT_EQ(crc32("56789", 5, first), 0xCBF43926u);
}

TEST(CheckedCounter, GivesBackWhatWasPacked) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{0xFFFF}, uint64_t{1} << 32, kCheckedMax}) {
    EXPECT_TRUE(isChecked(packChecked(value)));
    EXPECT_EQ(unpackChecked(packChecked(value)), value);
  }
  EXPECT_EQ(packChecked(0), 0u) << "fresh pages are counters at zero";
}

TEST(CheckedCounter, NoticesEveryFlippedBitAndByte) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{12345}, kCheckedMax}) {
    for (int bit = 0; bit < 64; ++bit) EXPECT_FALSE(isChecked(packChecked(value) ^ uint64_t{1} << bit)) << bit;
    for (int byte = 0; byte < 8; ++byte) EXPECT_FALSE(isChecked(packChecked(value) ^ uint64_t{0xFF} << 8 * byte)) << byte;
  }
}

}  // namespace
}  // namespace xsigma::profiler::base
