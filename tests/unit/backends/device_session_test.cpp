// Sessions with a device: losses, clocks, switching off and on, memory, and who may have it.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "../warnings.h"
#include "fake_session.h"

namespace xsigma::profiler {
namespace {

using namespace std::chrono_literals;
using namespace profiled;
using parsed::Json;

class DeviceSession : public FakeSession {};

TEST_F(DeviceSession, TheLedgerCountsEveryLaunch) {
  const auto result = profileDevice([&] {
    for (int i = 0; i < 1000; ++i) device.launch("k", i % 4, 1ns);
    device.copy(64, 1, 1ns);
  });
  const DeviceLedger ledger = result->ledger().device;
  EXPECT_TRUE(ledger.watched);
  EXPECT_EQ(ledger.launched, 1000u);
  EXPECT_EQ(ledger.kernels, 1000u);
  EXPECT_EQ(ledger.copies, 1u);
  EXPECT_EQ(ledger.pending, 0u);
  EXPECT_EQ(ledger.dropped, 0u);
  EXPECT_TRUE(result->ledger().whole());
}

TEST_F(DeviceSession, WhatFoundNoBufferIsCounted) {
  device.setRoom(100);
  auto result = profileDevice([&] {
    for (int i = 0; i < 80; ++i) device.launch("k", 0, 1ns);  // 160 records
  });
  const Ledger ledger = result->ledger();
  EXPECT_EQ(ledger.device.dropped, 60u);
  EXPECT_EQ(ledger.device.causes[static_cast<size_t>(DeviceLossCause::buffers_full)], 60u);
  EXPECT_FALSE(ledger.whole());
  EXPECT_EQ(saved(*result)["xsigmaLedger"]["device"]["causes"]["buffers_full"].number, 60);
}

TEST_F(DeviceSession, WhatDoesNotComeInTimeIsALossAndSaid) {
  device.setLate(true);
  Warnings warnings;
  auto result = profileDevice([&] { device.launch("k", 0, 1ns); });
  const Ledger ledger = result->ledger();
  EXPECT_EQ(ledger.device.causes[static_cast<size_t>(DeviceLossCause::too_late)], 1u);
  EXPECT_EQ(ledger.device.dropped, 1u);
  EXPECT_FALSE(ledger.whole());
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"did not hand over all", "5 s"});
  EXPECT_EQ(saved(*result)["xsigmaLedger"]["device"]["causes"]["too_late"].number, 1);
  const KeyAverages averages = result->keyAverages();
  EXPECT_EQ(averages.lostOfDevices(), 1u);
  EXPECT_NE(averages.table().find("1 records of devices were lost"), std::string::npos) << averages.table();
  EXPECT_NE(averages.json().find("\"lost_of_devices\": 1,"), std::string::npos);
}

TEST_F(DeviceSession, ADeviceThatCannotBePreparedIsNoReasonToRecordNothing) {
  device.setStart([] { return Status(StatusCode::busy, "somebody has it"); });
  prepareProfiler(kineto(), kCpuAndDevice);
  expectWords(refusal([] { prepareProfiler(kineto(), {ActivityType::CUDA}); }), {"CUDA cannot be recorded", "somebody has it"});
  Warnings warnings;
  enableProfiler(kineto(), kCpuAndDevice);
  scopeCalled("on the host");
  EXPECT_EQ(names(*disableProfiler()), Names{"on the host"});
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"CUDA is not recorded", "somebody has it"});
}

TEST_F(DeviceSession, AClockOfAnotherPaceIsUnderstoodInAShortSession) {
  device.setDrift(2'000'000'000);  // three ticks in a nanosecond
  int64_t before = 0;
  int64_t after = 0;
  const auto result = profileDevice([&] {
    device.takePair();
    spin(1ms);
    before = wallNs();
    device.launch("k", 0, 1ns);
    after = wallNs();
    spin(500us);
    device.takePair();
  });
  constexpr int64_t kSlackNs = 200'000;
  for (const KinetoEvent& each : result->events()) {
    if (each.name() != "k") continue;
    EXPECT_GE(each.startNs(), before - kSlackNs);
    EXPECT_LE(each.startNs(), after + kSlackNs);
    return;
  }
  FAIL() << "there is no kernel";
}

TEST_F(DeviceSession, AKernelThatIsNotOverAtTheEndIsPending) {
  device.setHurry(true);
  const auto result = profileDevice([&] {
    device.launch("quick", 0, 1ns);
    std::this_thread::sleep_for(1ms);
    device.launch("slow", 0, 1h);
  });
  const DeviceLedger ledger = result->ledger().device;
  EXPECT_EQ(ledger.kernels, 1u);
  EXPECT_EQ(ledger.pending, 1u);
  EXPECT_EQ(ledger.launched, 2u);
}

TEST_F(DeviceSession, AFullCaptureSaysWhatItCouldNotTake) {
  ProfilerConfig config = kineto();
  config.experimental_config.capture.byte_cap = 64 * 1024;
  const auto result = profileDevice(
      [&] {
        for (int i = 0; i < 5000; ++i) device.launch("k", 0, 1ns);
      },
      config);
  const DeviceLedger ledger = result->ledger().device;
  EXPECT_GT(ledger.causes[static_cast<size_t>(DeviceLossCause::no_room)], 0u);
  EXPECT_EQ(ledger.kernels + ledger.calls + ledger.causes[static_cast<size_t>(DeviceLossCause::no_room)], 10000u);
}

TEST_F(DeviceSession, AClockThatDriftsIsFollowedFromPairToPair) {
  // The device gains 300 µs a second, then loses as much: a single line through both ends would be off by tens of microseconds in the middle.
  struct Launched {
    int64_t before_ns;
    int64_t after_ns;
  };
  std::vector<Launched> launched;
  const auto result = profileDevice([&] {
    for (int half = 0; half < 2; ++half) {
      device.setDrift(half == 0 ? 300'000 : -300'000);
      for (int i = 0; i < 10; ++i) {
        std::this_thread::sleep_for(10ms);
        device.takePair();
        const int64_t before = wallNs();
        device.launch("k", 0, 1ns);
        launched.push_back({before, wallNs()});
      }
    }
  });
  std::vector<KinetoEvent> kernels;
  for (const KinetoEvent& each : result->events()) {
    if (each.name() == "k") kernels.push_back(each);
  }
  ASSERT_EQ(kernels.size(), launched.size());
  constexpr int64_t kLatencyNs = 2000;
  constexpr int64_t kSlackNs = 3000;
  for (size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_GE(kernels[i].startNs(), launched[i].before_ns + kLatencyNs - kSlackNs) << "launch " << i;
    EXPECT_LE(kernels[i].startNs(), launched[i].after_ns + kLatencyNs + kSlackNs) << "launch " << i;
  }
}

TEST_F(DeviceSession, WorkThatSeemsToStartBeforeItsLaunchIsShownAndCounted) {
  device.setLatency(-200us);
  auto result = profileDevice([&] {
    XSIGMA_PROFILE_SCOPE("step");
    spin(1ms);
    device.launch("early", 0, 1us);
  });
  EXPECT_NE(node(result->event_tree(), "early"), nullptr);
  const Json trace = saved(*result);
  EXPECT_EQ(trace["xsigmaAssembly"]["before_launch"].number, 1);
  EXPECT_TRUE(slices(trace, "kernel")["early"]["args"]["starts before its launch"].boolean);
}

TEST_F(DeviceSession, ARingSaysHowManyRecordsItHasOverwritten) {
  ProfilerConfig config = kineto();
  config.experimental_config.capture.policy = CapturePolicy::ring;
  config.experimental_config.capture.byte_cap = 64 * 1024;
  const auto result = profileDevice(
      [&] {
        for (int i = 0; i < 5000; ++i) device.launch("k", 0, 1ns);
      },
      config);
  const DeviceLedger ledger = result->ledger().device;
  const uint64_t overwritten = ledger.causes[static_cast<size_t>(DeviceLossCause::overwritten)];
  EXPECT_GT(overwritten, 0u);
  EXPECT_GT(ledger.kernels, 0u);
  EXPECT_EQ(ledger.kernels + ledger.calls + overwritten, 10000u);
  EXPECT_FALSE(result->ledger().whole());
}

TEST_F(DeviceSession, NothingIsRecordedWhileItIsSwitchedOff) {
  const auto result = profileDevice([&] {
    device.launch("before", 0, 1ns);
    toggleCollectionDynamic(false, {ActivityType::CUDA});
    device.launch("meanwhile", 0, 1ns);
    scopeCalled("the host goes on");
    toggleCollectionDynamic(true, {ActivityType::CUDA});
    device.launch("after", 0, 1ns);
  });
  EXPECT_EQ(count(*result, "before"), 1u);
  EXPECT_EQ(count(*result, "meanwhile"), 0u);
  EXPECT_EQ(count(*result, "after"), 1u);
  EXPECT_EQ(count(*result, "the host goes on"), 1u);
}

TEST_F(DeviceSession, MemoryOfTheDeviceIsTheScopesThatAskedForIt) {
  ProfilerConfig config = kineto();
  config.profile_memory = true;
  const auto result = profileDevice(
      [&] {
        XSIGMA_PROFILE_SCOPE("allocating");
        device.allocate(0x1000, 4096);
      },
      config);
  int64_t bytes = 0;
  for (const KeyAverage& row : result->keyAverages().rows()) {
    if (row.name == "allocating" && row.device == DeviceType::CPU) bytes = row.device_bytes;
  }
  EXPECT_EQ(bytes, 4096);
}

TEST_F(DeviceSession, ASecondSessionIsToldThatTheDeviceIsTaken) {
  enableProfiler(kineto(), kCpuAndDevice);
  std::string said;
  std::thread([&] { said = refusal([] { enableProfiler(kineto(), kCpuAndDevice); }); }).join();
  expectWords(said, {"another session", "thread " + std::to_string(gettid()) + " (", "one at a time", "Stop that one"});
  disableProfiler();
  expectUsable();
}

TEST_F(DeviceSession, AFinishedSessionGivesTheDeviceBack) {
  for (int round = 0; round < 20; ++round) {
    const auto result = profileDevice([&] { device.launch("k", 0, 1ns); });
    if (round % 2 != 0) continue;  // these results are not even looked at
    EXPECT_EQ(count(*result, "k"), 1u);
  }
}

TEST_F(DeviceSession, WithoutADeviceTheTraceSaysWhyAndTheHostIsRecorded) {
  setenv("XSIGMA_PROFILER_BACKENDS", "none", 1);
  Warnings warnings;
  auto result = profileDevice([&] { scopeCalled("host"); });
  EXPECT_EQ(count(*result, "host"), 1u);
  const Json about = saved(*result)["xsigmaDevices"]["CUDA"];
  EXPECT_FALSE(about["recorded"].boolean);
  expectWords(about["why"].text, {"XSIGMA_PROFILER_BACKENDS=none"});
  EXPECT_FALSE(result->ledger().device.watched);
}

TEST_F(DeviceSession, ADeviceAloneThatIsNotThereIsAnError) {
  setenv("XSIGMA_PROFILER_BACKENDS", "none", 1);
  expectWords(refusal([] { enableProfiler(kineto(), {ActivityType::CUDA}); }), {"XSIGMA_PROFILER_BACKENDS=none"});
  unsetenv("XSIGMA_PROFILER_BACKENDS");
  expectUsable();
}

TEST_F(DeviceSession, ABackendThatCannotStartLeavesTheHostRecordedAndNothingWatched) {
  device.setStart([] { return Status(StatusCode::busy, "the device is out for lunch"); });
  Warnings warnings;
  auto result = profileDevice([&] { scopeCalled("host"); });
  EXPECT_EQ(count(*result, "host"), 1u);
  EXPECT_FALSE(result->ledger().device.watched);
  const Json trace = saved(*result);
  expectWords(trace["xsigmaDevices"]["CUDA"]["why"].text, {"out for lunch"});
  EXPECT_FALSE(trace["xsigmaLedger"].has("device"));
}

TEST_F(DeviceSession, WhatABackendThrowsAtItsStartIsWarnedOfAndTheNextSessionGetsTheDevice) {
  device.setStart([]() -> Status { throw std::runtime_error("the device is on fire"); });
  {
    Warnings warnings;
    const auto result = profileDevice([&] { scopeCalled("host"); });
    EXPECT_EQ(count(*result, "host"), 1u);
    EXPECT_FALSE(result->ledger().device.watched);
    ASSERT_EQ(warnings.count(), 1u);
    expectWords(warnings.all()[0], {"CUDA is not recorded", "fake threw", "on fire"});
  }
  expectWords(refusal([] { enableProfiler(kineto(), {ActivityType::CUDA}); }), {"CUDA cannot be recorded", "on fire"});
  device.setStart({});
  const auto result = profileDevice([&] { device.launch("k", 0, 1ns); });
  EXPECT_EQ(count(*result, "k"), 1u);
}

TEST_F(DeviceSession, ADeviceThatDidNothingWasWatchedAllTheSame) {
  const auto result = profileDevice([&] { scopeCalled("host"); });
  EXPECT_TRUE(result->ledger().device.watched);
  EXPECT_EQ(result->ledger().device.launched, 0u);
}

TEST_F(DeviceSession, CollectionMayBeSwitchedWhileAnotherThreadEndsTheSession) {
  for (int round = 0; round < 30; ++round) {
    enableProfiler(allThreads(), kCpuAndDevice);
    std::atomic<bool> switching{false};
    std::atomic<bool> ended{false};
    std::thread other([&] {
      for (bool on = false; !ended; on = !on) {
        try {
          toggleCollectionDynamic(on, kCpuAndDevice);
        } catch (const ProfilerError&) {
          EXPECT_FALSE(profilerEnabled());  // it was ended in between
        }
        switching = true;
      }
    });
    while (!switching) std::this_thread::yield();
    const auto result = disableProfiler();
    const DeviceLedger ledger = result->ledger().device;
    ended = true;
    other.join();
    EXPECT_TRUE(ledger.watched);
    EXPECT_EQ(ledger.dropped, 0u);
  }
  const auto result = profileDevice([&] { device.launch("k", 0, 1ns); });
  EXPECT_EQ(count(*result, "k"), 1u) << "a switch of a session that is over reached the next";
}

TEST_F(DeviceSession, AFileHoldsTheDeviceRecordsToo) {
  const Folder folder;
  ProfilerConfig config = kineto();
  config.experimental_config.capture.path = folder / "run.xst";
  {
    const auto result = profileDevice([&] { device.launch("k", 0, 1ns); }, config);
    EXPECT_EQ(result->ledger().device.kernels, 1u);
  }
  const Expected<Capture> opened = openCapture(folder / "run.xst");
  ASSERT_TRUE(opened.ok()) << opened.message();
  EXPECT_TRUE(opened->info().closed);
  EXPECT_EQ(opened->ledger().device.kernels, 1u);
  EXPECT_TRUE(opened->damages().empty());
}

}  // namespace
}  // namespace xsigma::profiler
