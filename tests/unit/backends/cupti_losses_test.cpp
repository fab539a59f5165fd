// What goes wrong on the way is counted, and costs nothing else.
#include <cupti.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../../integration/child_process.h"
#include "backends/cupti/buffer_pool.h"
#include "backends/cupti/cupti_threads.h"
#include "watched_cupti.h"

namespace xsigma::profiler::testing {
namespace {

using namespace std::chrono_literals;
using backends::cupti::BufferPool;

constexpr size_t kWork = 55 + 6 + 8;  // in one play

class CuptiLosses : public WatchedCupti {
 protected:
  static size_t workWritten() {
    auto written = standin::seen().written_by_kind;
    return written[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] + written[CUPTI_ACTIVITY_KIND_MEMCPY] + written[CUPTI_ACTIVITY_KIND_MEMSET];
  }
  bool arrives(size_t work, std::chrono::milliseconds patience = 10s) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (output->of(DeviceRole::work).size() < work) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(2ms);
    }
    return true;
  }
};

TEST_F(CuptiLosses, RecordsLeaveHalfOfTheMemoryToHardwareCounters) {
  const BufferPool& pool = BufferPool::ofProcess();
  request.buffer_bytes = size_t{64} << 20;
  start();
  ASSERT_EQ(pool.bufferBytes(), size_t{1} << 20);
  EXPECT_TRUE(finish());
  request.metrics = {"sm__cycles_active.avg"};
  EXPECT_FALSE(backend->start(request, output)) << "the stand-in has no counters";
  EXPECT_EQ(pool.bufferBytes(), size_t{512} << 10);
}

TEST_F(CuptiLosses, RecordsThatFindNoBufferAreCounted) {
  request.buffer_bytes = 1;  // as little as there can be
  request.activities = {Type::CONCURRENT_KERNEL, Type::GPU_MEMCPY, Type::GPU_MEMSET};
  request.memory = false;
  start();
  output->close(true);  // nobody reads, so buffers run out
  standin::play({.repeat = 60});
  const standin::Seen full = standin::seen();
  EXPECT_GT(full.buffers_refused, 0);
  EXPECT_GT(full.records_dropped, 1000u);
  output->close(false);
  ASSERT_TRUE(arrives(100));
  std::this_thread::sleep_for(600ms);  // the worker has caught up
  const size_t dropped = standin::seen().records_dropped;
  standin::play({});
  EXPECT_TRUE(finish());
  EXPECT_EQ(standin::seen().records_dropped, dropped) << "when there are buffers again, recording goes on";
  EXPECT_EQ(output->lossOf(DeviceLoss::buffers_full), dropped);
  EXPECT_EQ(output->of(DeviceRole::work).size(), workWritten()) << "and nothing else is lost";
}

TEST_F(CuptiLosses, KindsThatNobodyKnowsAreCountedAndSkipped) {
  watch({.unknown_records = 3});
  EXPECT_EQ(output->lossOf(DeviceLoss::unreadable), 3u);
  EXPECT_EQ(output->properties()["xsigmaUnreadRecordKinds"], R"({"250": 3})");
  EXPECT_EQ(output->of(DeviceRole::work).size(), kWork);
}

TEST_F(CuptiLosses, WorkThatEndsAfterTheStopIsWaitedFor) {
  watch({.late_flushes = 4});
  EXPECT_EQ(output->of(DeviceRole::work).size(), kWork);
  EXPECT_EQ(standin::seen().forced_flushes - standin::seen().finalized, 0) << "forcing would take the times away";
}

TEST_F(CuptiLosses, WorkThatDoesNotEndIsNoLossAndHasNoTimes) {
  start();
  standin::play({.late_flushes = 1 << 20});
  EXPECT_TRUE(finish());
  EXPECT_EQ(output->of(DeviceRole::work).size(), 0u);
  EXPECT_FALSE(output->of(DeviceRole::call).empty());
  EXPECT_EQ(output->lossOf(DeviceLoss::buffers_full), 0u);
  EXPECT_EQ(standin::seen().buffers_out, 0);
}

TEST_F(CuptiLosses, RecordsComeWhileTheRunGoesOn) {
  start();
  standin::play({});
  EXPECT_TRUE(arrives(kWork)) << "so that a kill loses little";
  EXPECT_TRUE(finish());
  EXPECT_EQ(output->of(DeviceRole::work).size(), kWork);
}

TEST_F(CuptiLosses, NothingIsRecordedWhileCollectingIsOff) {
  start();
  run->setCollecting(false);
  standin::play({});
  EXPECT_EQ(standin::seen().enabled_kinds, (std::set<uint32_t>{CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_STREAM}))
      << "a stream that is made now is used later";
  run->setCollecting(true);
  standin::play({});
  EXPECT_TRUE(finish());
  EXPECT_EQ(output->of(DeviceRole::work).size(), kWork);
}

TEST_F(CuptiLosses, SwitchingBesideTheStopLeavesNothingOn) {
  for (int round = 0; round < 20; ++round) {
    start();
    std::atomic<bool> over{false};
    std::vector<std::thread> togglers;
    for (int i = 0; i < 2; ++i) {
      togglers.emplace_back([&] {
        for (bool on = false; !over; on = !on) run->setCollecting(on);
      });
    }
    std::this_thread::sleep_for(1ms);
    run->stop();
    EXPECT_TRUE(standin::seen().enabled_kinds.empty()) << "round " << round;
    std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(standin::seen().enabled_kinds.empty()) << "round " << round;
    over = true;
    for (std::thread& toggler : togglers) toggler.join();
    EXPECT_TRUE(finish());
  }
}

TEST_F(CuptiLosses, WhatWasRecordedBeforeCollectingWentOffIsKept) {
  start();
  standin::play({});
  run->setCollecting(false);
  standin::play({});
  EXPECT_TRUE(finish());
  EXPECT_EQ(output->of(DeviceRole::work).size(), kWork);
}

template <typename T>
void behaveWith(T standin::Behaviour::*what, T value) {
  standin::Behaviour behaviour = standin::behaviour();
  behaviour.*what = value;
  standin::behave(behaviour);
}

void waitForDevice(int result = 0) {
  standin::call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, "cudaDeviceSynchronize", result);
}

// It is done on a thread of its own.
bool isFinalized(int times) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (standin::seen().finalized < times && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  return standin::seen().finalized == times;
}

// The program goes on, and waits for the device now and then.
void waitForDeviceUntilFree() {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (standin::seen().subscribed && std::chrono::steady_clock::now() < end) {
    waitForDevice();
    std::this_thread::sleep_for(2ms);
  }
}

TEST_F(CuptiLosses, NothingIsLeftSwitchedOn) {
  start();
  EXPECT_TRUE(standin::seen().subscribed);
  EXPECT_TRUE(standin::seen().system_thread_ids);
  EXPECT_FALSE(standin::seen().enabled_kinds.empty());
  standin::play({});
  EXPECT_TRUE(finish());
  EXPECT_TRUE(standin::seen().enabled_kinds.empty());
  EXPECT_EQ(standin::seen().finalized, 0) << "threads may be inside CUDA: only where one has waited for the device";
  waitForDeviceUntilFree();
  const standin::Seen after = standin::seen();
  EXPECT_FALSE(after.subscribed);
  EXPECT_FALSE(after.event_timestamps);
  EXPECT_EQ(after.buffers_out, 0);
  EXPECT_EQ(after.finalized, 1) << "so that launches cost what they did before";
}

TEST_F(CuptiLosses, ARunThatIsThrownAwayLeavesNothingSwitchedOnEither) {
  start();
  standin::play({});
  run.reset();
  waitForDeviceUntilFree();
  EXPECT_TRUE(standin::seen().enabled_kinds.empty());
  EXPECT_FALSE(standin::seen().subscribed);
}

TEST_F(CuptiLosses, ARunThatBeginsBeforeTheDeviceWasWaitedForTakesOver) {
  watch();
  output = std::make_shared<KeptOutput>();
  watch();
  EXPECT_EQ(standin::seen().finalized, 0);
  EXPECT_EQ(output->of(DeviceRole::work).size(), kWork);
  waitForDeviceUntilFree();
  EXPECT_EQ(standin::seen().finalized, 1);
}

TEST_F(CuptiLosses, CuptiLeavesAtTheFirstWaitAfterTheResult) {
  behaveWith(&standin::Behaviour::slow_ends_ms, 3);
  watch();
  ASSERT_TRUE(backends::cupti::CuptiThreads::ofProcess().othersAreGone()) << "their end was waited for";
  waitForDevice();
  EXPECT_TRUE(isFinalized(1));
  EXPECT_EQ(standin::seen().finalized_beside_an_end, 0) << "a thread of ours was just ending";
}

TEST_F(CuptiLosses, EveryWaitForTheWholeDeviceLetsCuptiLeave) {
  constexpr uint32_t kCtxSynchronizeV2 = 800;
  int times = 0;
  for (const auto& [domain, id] :
       {std::pair<uint32_t, uint32_t>{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020},
        {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize},
        {CUPTI_CB_DOMAIN_DRIVER_API, kCtxSynchronizeV2}}) {
    watch();
    standin::call(domain, id, "a wait");
    EXPECT_TRUE(isFinalized(++times)) << id;
  }
}

TEST_F(CuptiLosses, CuptiLeavesAtOnceWhereThatIsWanted) {
  setenv("XSIGMA_PROFILER_CUPTI_FINALIZE", "now", 1);
  watch();
  EXPECT_TRUE(isFinalized(1)) << "nobody has waited for the device";
  EXPECT_FALSE(standin::seen().subscribed);
}

TEST_F(CuptiLosses, CuptiStaysWhereThatIsWanted) {
  setenv("XSIGMA_PROFILER_CUPTI_FINALIZE", "0", 1);
  watch();
  EXPECT_FALSE(standin::seen().subscribed) << "another tool can have it";
  waitForDevice();
  EXPECT_EQ(standin::seen().finalized, 0);
}

TEST_F(CuptiLosses, AWaitThatFailedLetsNobodyLeave) {
  watch();
  waitForDevice(700);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(standin::seen().finalized, 0);
  waitForDeviceUntilFree();
  EXPECT_EQ(standin::seen().finalized, 1);
}

TEST_F(CuptiLosses, RunsThatFollowEachOtherBesideAThreadThatWaitsForTheDeviceAllTheTime) {
  std::atomic<bool> over{false};
  std::thread waiting([&] {
    while (!over) waitForDevice();
  });
  for (int round = 0; round < 100; ++round) {
    output = std::make_shared<KeptOutput>();
    const auto begun = std::chrono::steady_clock::now();
    start();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 1500ms) << "round " << round;
    EXPECT_TRUE(finish());
    if (HasFailure()) break;
  }
  over = true;
  waiting.join();
  EXPECT_EQ(standin::seen().finalized_beside_an_end, 0);
}

TEST_F(CuptiLosses, CuptiStaysAsLongAsAThreadOfOursEnds) {
  behaveWith(&standin::Behaviour::slow_ends_ms, 200);
  watch();
  waitForDevice();
  EXPECT_EQ(standin::seen().finalized, 0);
  waitForDeviceUntilFree();
  EXPECT_EQ(standin::seen().finalized, 1);
  EXPECT_EQ(standin::seen().finalized_beside_an_end, 0);
}

TEST_F(CuptiLosses, AProgramThatExitsWaitsForCuptiToHaveLeft) {
  const int status = test::runInChild([&]() -> int {
    std::atexit([] { _exit(standin::seen().finalized == 1 ? 0 : 7); });  // runs last, as CUPTI's own would
    behaveWith(&standin::Behaviour::slow_finalize_ms, 150);
    watch();
    waitForDevice();
    if (standin::seen().finalized != 0) _exit(8);
    std::exit(1);
  });
  EXPECT_EQ(status, 0);
}

TEST_F(CuptiLosses, AnotherToolMayFinalizeWhatWasLeftForLater) {
  watch();
  ASSERT_EQ(cuptiFinalize(), CUPTI_SUCCESS);
  output = std::make_shared<KeptOutput>();
  watch();
  EXPECT_EQ(output->of(DeviceRole::work).size(), kWork);
  EXPECT_EQ(standin::seen().stale_unsubscribes, 0) << "its handle is nobody's any more";
}

TEST_F(CuptiLosses, ASecondRunIsAsGoodAsTheFirst) {
  watch();
  output = std::make_shared<KeptOutput>();
  watch();
  EXPECT_EQ(output->of(DeviceRole::work).size(), kWork);
  EXPECT_EQ(output->of(DeviceRole::graph_node).size(), 12u);
}

TEST_F(CuptiLosses, ADriverThatDoesNotLetAnyoneInIsNotWaitedForForEver) {
  behaveWith(&standin::Behaviour::kept_out, true);
  const auto begun = std::chrono::steady_clock::now();
  const Expected<std::unique_ptr<BackendRun>> refused = backend->start(request, output);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().code(), StatusCode::busy);
  EXPECT_NE(refused.message().find("Call prepareProfiler() before they begin"), std::string::npos) << refused.message();

  behaveWith(&standin::Behaviour::kept_out, false);
  watch();  // waits for the attempt before to let go
  EXPECT_EQ(output->of(DeviceRole::work).size(), kWork);
}

TEST_F(CuptiLosses, NoRunWaitsForTheStreamsThatAreThere) {
  behaveWith(&standin::Behaviour::dump_kept_out, true);
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 2; ++i) {
    output = std::make_shared<KeptOutput>();
    watch();
    EXPECT_EQ(output->of(DeviceRole::work).size(), kWork);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
  waitForDevice();
  EXPECT_EQ(standin::seen().finalized, 0) << "somebody is inside of it";

  behaveWith(&standin::Behaviour::dump_kept_out, false);  // what was asked for comes when the runs are over
  const auto came_and_went = [] {
    const standin::Seen seen = standin::seen();
    return seen.ever_enabled_kinds.count(CUPTI_ACTIVITY_KIND_STREAM) != 0 && seen.enabled_kinds.empty();
  };
  const auto end = std::chrono::steady_clock::now() + 5s;
  while (!came_and_went() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(came_and_went()) << "and is not left switched on";
  waitForDeviceUntilFree();
  EXPECT_EQ(standin::seen().finalized, 1);
}

TEST_F(CuptiLosses, PreparingRecordsNothing) {
  const Status prepared = backend->prepare(request);
  ASSERT_TRUE(prepared) << prepared.message();
  EXPECT_TRUE(standin::seen().enabled_kinds.empty());
  standin::play({});
  watch();
  EXPECT_EQ(output->of(DeviceRole::work).size(), kWork);
  EXPECT_EQ(output->properties().count("xsigmaDeviceWarmup"), 1u) << "what it took is told";
}

TEST_F(CuptiLosses, SeveralThreadsMayFillBuffersAtOnce) {
  start();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) threads.emplace_back([] { standin::play({.repeat = 5}); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(finish());
  EXPECT_EQ(output->of(DeviceRole::work).size(), 20 * kWork);
  EXPECT_EQ(output->lossOf(DeviceLoss::buffers_full), 0u);
}

}  // namespace
}  // namespace xsigma::profiler::testing
