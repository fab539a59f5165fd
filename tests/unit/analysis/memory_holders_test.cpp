// Who holds memory when it runs out and when the recording ends, and what is said of losses.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/memory_summary.h"
#include "assembled.h"
#include "hand_capture.h"
#include "held_memory.h"
#include "xsigma/profiler/memory.h"

namespace xsigma::profiler::test {
namespace {

TEST(MemoryProfile, OutOfMemoryHasTheLargestHoldersOfThatMoment) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("load", 10);
  main.memory(20, 1, 700, 0, 0);
  main.end("load", 10, 30);
  main.begin("work", 40);
  main.memory(50, 2, 200, 0, 0);
  main.memory(51, 3, 50, 0, 0);
  main.outOfMemory(60, 4096, 950, 1024);
  main.memory(70, 1, -700, 0, 0);
  main.memory(71, 4, 2000, 0, 0);
  main.end("work", 40, 80);
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  const MemoryDevice& device = profile.devices[0];
  ASSERT_EQ(device.shortages.size(), 1u);
  const MemoryShortage& shortage = device.shortages[0];
  EXPECT_EQ(shortage.requested, 4096u);
  EXPECT_EQ(shortage.bytes, 950u);
  EXPECT_EQ(shortage.time_ns, kHandRealtime + 60);
  EXPECT_EQ(holders(profile, shortage.holders), (Texts{"load: 700 in 1", "work: 250 in 2"}));
  EXPECT_EQ(profile.path(device.events[shortage.event].scope), "work");
  EXPECT_EQ(device.events[shortage.event].total_reserved, 1024u);
  EXPECT_EQ(device.peak.bytes, 2250u);  // not of the failure
  EXPECT_NE(
      profile.summary().find("out of memory at 60 ns: 4.0 KiB asked for in work, 950 bytes allocated, 700 bytes of it allocated in load"),
      std::string::npos)
      << profile.summary();
}

TEST(MemoryProfile, LeaksAreTheLargestFirstWithPlaceThreadAndTime) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  HandThread& worker = capture.thread(12, "worker");
  main.begin("a", 10);
  main.memory(20, 1, 10, 0, 0);
  main.memory(21, 2, 99, 0, 0);
  main.memory(22, 2, -99, 0, 0);
  main.end("a", 10, 30);
  worker.begin("a", 40);
  worker.begin("b", 41);
  worker.memory(42, 3, 500, 0, 0);
  worker.end("b", 41, 50);
  worker.memory(51, 4, 20, 0, 0);
  worker.end("a", 40, 60);
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  const MemoryDevice& device = profile.devices[0];
  ASSERT_EQ(device.leaks.size(), 3u);
  const MemoryEvent& largest = device.events[device.leaks[0]];
  EXPECT_EQ(largest.address, 3u);
  EXPECT_EQ(largest.time_ns, kHandRealtime + 42);
  EXPECT_EQ(profile.path(largest.scope), "a > b");
  EXPECT_EQ(profile.threads[largest.thread].name, "worker");
  EXPECT_EQ(device.leaked_bytes, 530u);
  EXPECT_EQ(holders(profile, device.leaks_by_scope), (Texts{"a > b: 500 in 1", "a: 30 in 2"}));  // both threads' "a" are one
}

TEST(MemoryProfile, AScopeThatNeverEndedStillHoldsItsMemory) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("open", 10);
  main.memory(20, 1, 5, 0, 0);
  main.memory(30, 2, 6, 0, 0);
  main.memory(40, 2, -6, 0, 0);
  const MemoryProfile profile = analyzeMemory(capture.finish(0));
  const MemoryDevice& device = profile.devices[0];
  EXPECT_EQ(holders(profile, device.leaks_by_scope), (Texts{"open: 5 in 1"}));
  EXPECT_EQ(device.events[1].category, MemoryCategory::temporary);
  EXPECT_EQ(profile.end_ns, kHandRealtime + 40);
}

TEST(MemoryProfile, ManyFailuresKeepTheirHoldersForTheFirstOnly) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.memory(1, 1, 5, 0, 0);
  for (uint64_t i = 0; i < kMostShortages + 5; ++i) main.outOfMemory(10 + i, 77, 5, 0);
  const MemoryProfile profile = analyzeMemory(capture.finish(100'000));
  const std::vector<MemoryShortage>& shortages = profile.devices[0].shortages;
  ASSERT_EQ(shortages.size(), kMostShortages + 5);
  EXPECT_EQ(shortages[kMostShortages - 1].holders.size(), 1u);
  EXPECT_TRUE(shortages[kMostShortages].holders.empty());
  EXPECT_EQ(shortages[kMostShortages].bytes, 5u);
  EXPECT_EQ(shortages.back().requested, 77u);
  EXPECT_EQ(countOf(profile.summary(), "77 bytes asked for"), 10u);
  EXPECT_TRUE(contains(profile.summary(), "out of memory 995 times more")) << profile.summary();
}

TEST(MemoryProfile, ALongPathIsShownByItsInnerEnd) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  for (uint64_t i = 0; i < 40; ++i) main.begin("s" + std::to_string(i), 10 + i);
  main.memory(100, 1, 5, 0, 0);
  for (uint64_t i = 40; i-- > 0;) main.end("s" + std::to_string(i), 10 + i, 200 - i);
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  const uint32_t scope = profile.devices[0].events[0].scope;
  EXPECT_EQ(profile.scopes[scope].depth, 40u);
  const std::string path = profile.path(scope);
  EXPECT_TRUE(contains(path, "… > s24 > s25")) << path;
  EXPECT_EQ(path.substr(path.size() - 9), "s38 > s39");
}

TEST(MemoryWords, AreForPeople) {
  using namespace analysis;
  EXPECT_EQ(bytesText(0), "0 bytes");
  EXPECT_EQ(bytesText(1), "1 byte");
  EXPECT_EQ(bytesText(1023), "1,023 bytes");
  EXPECT_EQ(bytesText(1024), "1.0 KiB");
  EXPECT_EQ(bytesText((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(bytesText(UINT64_MAX), "16.0 EiB");
  EXPECT_EQ(countText(1'234'567, "release"), "1,234,567 releases");
  EXPECT_EQ(timeText(999), "999 ns");
  EXPECT_EQ(timeText(1'500), "1.5 µs");
  EXPECT_EQ(timeText(61'250'000'000), "61.25 s");
  EXPECT_EQ(deviceText({DeviceType::CUDA, 3}), "CUDA 3");
  EXPECT_EQ(deviceText({}), "CPU");
}

TEST(MemoryProfile, WithoutReportsItSaysSo) {
  HandCapture capture;
  capture.thread(11, "main").scope("scope", 10, 20);
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  EXPECT_TRUE(profile.empty());
  EXPECT_TRUE(contains(profile.summary(), "Nobody reported memory")) << profile.summary();
  EXPECT_TRUE(analyzeMemory(Capture()).empty());
}

TEST(MemoryProfile, ARingThatWentRoundAndAFullCaptureSaySo) {
  HandCapture ring({}, {.policy = CapturePolicy::ring, .byte_cap = kMinimumByteCap});
  HandThread& main = ring.thread(11, "main");
  for (uint64_t i = 1; i <= 5000; ++i) main.memory(10 * i, i, 1, i, 0);
  const MemoryProfile round = analyzeMemory(ring.finish(100'000));
  EXPECT_TRUE(round.overwritten);
  EXPECT_FALSE(round.whole());
  EXPECT_LT(round.devices[0].allocations, 5000u);
  EXPECT_TRUE(contains(round.summary(), "a ring that went round")) << round.summary();

  HandCapture small({}, {.policy = CapturePolicy::stop_when_full, .byte_cap = kMinimumByteCap});
  HandThread& writer = small.thread(11, "main");
  for (uint64_t i = 1; i <= 5000; ++i) writer.memory(10 * i, i, 1, i, 0);
  const MemoryProfile full = analyzeMemory(small.finish(100'000));
  EXPECT_FALSE(full.overwritten);
  EXPECT_EQ(full.lost_reports + full.devices[0].allocations, 5000u);
  EXPECT_GT(full.lost_reports, 0u);
  EXPECT_TRUE(
      contains(full.summary(), analysis::countText(full.lost_reports, "report") + " of memory and of other marks were lost: room ran out"))
      << full.summary();
}

}  // namespace
}  // namespace xsigma::profiler::test
