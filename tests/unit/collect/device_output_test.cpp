// Where a backend puts what it has seen: from the first record to the end of the drain, and not later.
#include "collect/device_output.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "collect/live_capture.h"

namespace xsigma::profiler::collect {
namespace {

DeviceActivity kernel(DeviceOutput& output) {
  DeviceActivity activity;
  activity.name = output.text("k");
  return activity;
}

TEST(DeviceOutput, TakesNothingOnceTheCaptureIsComplete) {
  const std::unique_ptr<LiveCapture> live = *LiveCapture::start({});
  const std::shared_ptr<DeviceOutput> output = live->openDevices("some backend");
  output->put(kernel(*output));
  const Capture capture = live->stop();
  capture.info();  // complete from here on
  EXPECT_EQ(output->text("late"), 0u);
  EXPECT_EQ(output->text("k"), 0u);
  output->put(DeviceActivity());
  output->clockPair(1, 1, 1);
  output->lost(DeviceLoss::buffers_full, 3);
  output->row(0, 7, "late", 0);
  output->property("late", "1");
  output->open();
  const Ledger ledger = capture.ledger();
  EXPECT_EQ(ledger.device.kernels, 1u);
  EXPECT_EQ(ledger.device.dropped, 0u);
  EXPECT_TRUE(ledger.whole());
  for (const CaptureProperty& property : capture.properties()) EXPECT_NE(property.key, "late");
}

TEST(DeviceOutput, OfABackendThatSawNothingSaysThatItHasWatched) {
  const std::unique_ptr<LiveCapture> live = *LiveCapture::start({});
  live->openDevices("some backend")->open();
  EXPECT_TRUE(live->stop().ledger().device.watched);
}

TEST(DeviceOutput, OfABackendThatDidNotStartIsNotInTheCapture) {
  const std::unique_ptr<LiveCapture> live = *LiveCapture::start({});
  const std::shared_ptr<DeviceOutput> output = live->openDevices("some backend");
  live->dropDevices(output);
  output->put(DeviceActivity());
  EXPECT_FALSE(live->stop().ledger().device.watched);
}

TEST(DeviceOutput, TakesWhatSeveralThreadsPut) {
  constexpr int kThreads = 4;
  constexpr int kRecords = 2000;
  const std::unique_ptr<LiveCapture> live = *LiveCapture::start({});
  const std::shared_ptr<DeviceOutput> output = live->openDevices("some backend");
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < kRecords; ++j) output->put(kernel(*output));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Ledger ledger = live->stop().ledger();
  EXPECT_EQ(ledger.device.kernels, static_cast<uint64_t>(kThreads * kRecords));
  EXPECT_TRUE(ledger.whole());
}

}  // namespace
}  // namespace xsigma::profiler::collect
