// Device memory: what a session holds, whatever was there before it.
#include <gtest/gtest.h>

#include "backends/cupti/memory_decoder.h"
#include "kept_output.h"

namespace xsigma::profiler::testing {
namespace {

using backends::cupti::MemoryDecoder;
using backends::cupti::MemoryRecord;

class CuptiMemory : public ::testing::Test {
 protected:
  void take(uint64_t address, uint64_t bytes, uint64_t time) { put(false, address, bytes, time); }
  void giveBack(uint64_t address, uint64_t bytes, uint64_t time) { put(true, address, bytes, time); }
  void put(bool release, uint64_t address, uint64_t bytes, uint64_t time) {
    decoder.put(MemoryRecord{
        .release = release, .memory_kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, .address = address, .bytes = bytes, .time = time});
  }
  std::vector<int64_t> totals(DeviceMemoryValue which) const {
    std::vector<int64_t> all;
    for (const KeptActivity& memory : output.of(DeviceRole::memory)) all.push_back(memory.values[which]);
    return all;
  }

  KeptOutput output;
  MemoryDecoder decoder{output};
};

TEST_F(CuptiMemory, FromBeforeTheSessionTakesNothingFromWhatItHolds) {
  giveBack(1, 4096, 10);
  take(2, 100, 11);
  giveBack(3, 1000, 12);
  giveBack(2, 100, 13);
  EXPECT_EQ(totals(kMemoryBytes), (std::vector<int64_t>{-4096, 100, -1000, -100}));
  EXPECT_EQ(totals(kMemoryAllocated), (std::vector<int64_t>{0, 100, 100, 0}));
  EXPECT_EQ(totals(kMemoryReserved), (std::vector<int64_t>{0, 100, 100, 0}));
}

TEST_F(CuptiMemory, AnAddressThatIsUsedAgainIsCountedEachTime) {
  giveBack(1, 4096, 10);
  take(1, 100, 11);
  giveBack(1, 100, 12);
  take(1, 200, 13);
  EXPECT_EQ(totals(kMemoryAllocated), (std::vector<int64_t>{0, 100, 0, 200}));
}

TEST_F(CuptiMemory, RecordsOfTwoThreadsMayBeReadInAnyOrder) {
  giveBack(1, 100, 11);  // on another thread than the one that took it
  take(1, 100, 10);
  take(1, 200, 12);
  EXPECT_EQ(totals(kMemoryAllocated), (std::vector<int64_t>{0, 0, 200}));
  take(2, 10, 20);
  take(2, 30, 22);
  giveBack(2, 10, 21);
  giveBack(2, 30, 23);
  EXPECT_EQ(totals(kMemoryAllocated), (std::vector<int64_t>{0, 0, 200, 210, 230, 230, 200}));
}

}  // namespace
}  // namespace xsigma::profiler::testing
