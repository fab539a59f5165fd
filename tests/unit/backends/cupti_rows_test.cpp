// Rows are called what the program calls what is on them.
#include <gtest/gtest.h>

#include "backends/cupti/device_rows.h"
#include "kept_output.h"

namespace xsigma::profiler::backends::cupti {
namespace {

class CuptiRows : public ::testing::Test {
 protected:
  testing::KeptOutput output;
  DeviceRows rows{nullptr, output};

  std::string device(int64_t number) { return output.rows()[{number, -1}]; }
  std::string stream(int64_t number) { return output.rows()[{0, number}]; }
};

TEST_F(CuptiRows, WithoutNamesByNumber) {
  rows.seen(0, 1, 7);
  EXPECT_EQ(device(0), "GPU 0");
  EXPECT_EQ(stream(7), "stream 7 ");
}

TEST_F(CuptiRows, ByNamesThatCameBefore) {
  rows.add(NameRecord{.of = NameRecord::Of::device, .device = 0, .name = "left card"});
  rows.add(NameRecord{.of = NameRecord::Of::context, .device = 0, .context = 1, .name = "training"});
  rows.add(NameRecord{.of = NameRecord::Of::stream, .device = 0, .context = 1, .stream = 7, .name = "copies"});
  rows.seen(0, 1, 7);
  EXPECT_EQ(device(0), "GPU 0 left card");
  EXPECT_EQ(stream(7), "stream 7 copies (context training) ");
}

TEST_F(CuptiRows, ByNamesThatComeLater) {
  rows.seen(0, 1, 7);
  rows.seen(0, 2, 8);
  rows.add(NameRecord{.of = NameRecord::Of::device, .device = 0, .name = "left card"});
  rows.add(NameRecord{.of = NameRecord::Of::context, .device = 0, .context = 1, .name = "training"});
  EXPECT_EQ(device(0), "GPU 0 left card");
  EXPECT_EQ(stream(7), "stream 7 (context training) ");
  EXPECT_EQ(stream(8), "stream 8 ") << "of another context";
}

TEST_F(CuptiRows, WithThePriorityOfAStreamWhoseDeviceIsKnownLater) {
  rows.add(StreamRecord{.context = 1, .stream = 7, .priority = -5});
  rows.seen(0, 1, 7);
  EXPECT_EQ(stream(7), "stream 7 (priority -5) ");
}

TEST_F(CuptiRows, WithThePriorityThatTheFirstKernelTells) {
  rows.prioritized(0, 7, -5);
  rows.seen(0, 1, 7);
  rows.prioritized(0, 7, -3);  // its own, by an attribute of its launch
  EXPECT_EQ(stream(7), "stream 7 (priority -5) ");
}

TEST_F(CuptiRows, WithThePriorityOfAStreamWhoseContextIsToldLater) {
  rows.add(StreamRecord{.context = 1, .stream = 7, .priority = -5});
  rows.add(ContextRecord{.context = 1, .device = 0});
  rows.seen(0, 1, 7);
  EXPECT_EQ(stream(7), "stream 7 (priority -5) ");
}

TEST_F(CuptiRows, OfAnUnknownContextTeachNothing) {
  rows.seen(0, CUPTI_INVALID_CONTEXT_ID, 7);
  EXPECT_EQ(rows.deviceOf(CUPTI_INVALID_CONTEXT_ID), std::nullopt);
}

}  // namespace
}  // namespace xsigma::profiler::backends::cupti
