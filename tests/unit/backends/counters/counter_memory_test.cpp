// What counters may use of a session's memory: their part, whatever is counted and on how many devices.
#include <gtest/gtest.h>

#include "counting.h"

namespace {

using namespace counting;

constexpr size_t kMiB = size_t{1} << 20;
const std::vector<std::string> kBlocks{"sm__ctas_launched.sum"};

class CounterMemory : public testing::Test {
 protected:
  void SetUp() override { card() = {}; }
  void TearDown() override {
    EXPECT_EQ(card().enabled, 0) << "something was left switched on";
    EXPECT_EQ(card().hosts, 0);
    EXPECT_EQ(card().image_bytes, 0u);
    EXPECT_EQ(card().hardware_bytes, 0u);
  }
  static void expectWords(const std::string& message, const std::vector<std::string>& words) {
    for (const std::string& word : words) EXPECT_NE(message.find(word), std::string::npos) << word << " is not in: " << message;
  }
};

TEST_F(CounterMemory, IsPartOfTheSessionsAndLeavesRoomForRecords) {
  BackendRequest request;
  EXPECT_EQ(counterBytes(request), 0u) << "nothing is counted: all of it is for records";
  request.metrics = kBlocks;
  EXPECT_EQ(counterBytes(request), request.buffer_bytes / 2);
}

TEST_F(CounterMemory, OfSamplesIsDividedAmongTheDevices) {
  card().has_context = false;
  card().bytes_per_slot = 16384;
  for (const int devices : {1, 2, 8}) {
    card().devices = devices;
    for (const auto interval : {20us, 1000us}) {
      for (const size_t bytes : {64 * kMiB, 40 * kMiB}) {
        Counting counting(kBlocks, false, interval, bytes);
        ASSERT_EQ(counting.refused, "") << devices << " devices, " << bytes;
        EXPECT_EQ(card().enabled, devices);
        EXPECT_LE(card().image_bytes + card().hardware_bytes, counterBytes(counting.request)) << devices << " devices, " << bytes;
        EXPECT_GE(card().hardware_bytes, counterBytes(counting.request) / 3) << "what is there is used";
        EXPECT_TRUE(counting.finish());
      }
    }
  }
}

TEST_F(CounterMemory, OfSamplesThatHoldsLessThanAQuarterOfAMillisecondIsRefused) {
  card().bytes_per_slot = 16384;
  const Counting counting(kBlocks, false, 2us, 8 * kMiB);
  expectWords(counting.refused, {"every 2 µs", "longer interval", "capture.byte_cap"});
}

TEST_F(CounterMemory, OfSamplesThatIsLittleIsFetchedMoreOftenAndLosesNothing) {
  card().bytes_per_slot = 8192;
  Counting counting(kBlocks, false, 1ms, 4 * kMiB);
  ASSERT_EQ(counting.refused, "");
  const int fills = card().image_fills;
  std::this_thread::sleep_for(300ms);
  EXPECT_GE(card().image_fills - fills, 6) << "the usual period is 64 ms";
  EXPECT_LE(card().image_bytes + card().hardware_bytes, 2 * kMiB);
  ASSERT_TRUE(counting.finish());
  EXPECT_GE(counting.kept->activities.size(), 200u);
  EXPECT_TRUE(counting.kept->losses.empty());
}

TEST_F(CounterMemory, OfRangesIsSharedByAllContexts) {
  card().bytes_per_slot = 4096;  // 64 launches with room for 256 kernels: 1 MiB
  Counting counting(kBlocks, true, {}, 4 * kMiB);
  ASSERT_EQ(counting.refused, "");
  for (int i = 0; i < 40; ++i) counting.launch("k", 1);
  for (int i = 0; i < 40; ++i) counting.launch("k", 2, later());
  EXPECT_EQ(card().enabled, 2);
  EXPECT_LE(card().image_bytes, 2 * kMiB);
  ASSERT_TRUE(counting.finish());
  EXPECT_EQ(counting.kept->activities.size(), 80u);
  EXPECT_TRUE(counting.kept->losses.empty());
}

TEST_F(CounterMemory, ThatIsFullLosesResultsAndCountsThem) {
  const std::string name(1000, 'k');
  Counting counting(kBlocks, true, {}, kMiB);
  ASSERT_EQ(counting.refused, "");
  for (int i = 0; i < 2000; ++i) counting.launch(name.c_str(), i);
  const uint64_t images = card().image_bytes;
  ASSERT_TRUE(counting.finish());
  const size_t kept = counting.kept->activities.size();
  EXPECT_GT(kept, 100u);
  EXPECT_LE(images + kept * name.size(), counterBytes(counting.request));
  EXPECT_EQ(kept + counting.kept->losses[DeviceLoss::not_counted], 2000u);
}

TEST_F(CounterMemory, ThatDoesNotDoIsRefusedWithWhatItTakes) {
  card().bytes_per_slot = 65536;
  expectWords(Counting(kBlocks, false, 1ms, 4 * kMiB).refused,
              {"cannot sample 1 metrics of device 0", "takes 8388624 bytes at least, and 2097152 are its part", "capture.byte_cap"});
  expectWords(Counting(kBlocks, true, {}, 256 << 10).refused,
              {"cannot count 1 metrics on device 0", "and 131072 are left", "capture.byte_cap"});
  expectWords(Counting(kBlocks, false, {}, 128 << 10).refused, {"takes 131088 bytes at least, and 65536 are left", "capture.byte_cap"});
}

}  // namespace
