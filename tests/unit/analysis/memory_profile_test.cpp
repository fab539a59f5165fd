// analyzeMemory, on captures whose every nanosecond and byte is known.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "hand_capture.h"
#include "held_memory.h"
#include "xsigma/profiler/memory.h"

namespace xsigma::profiler::test {
namespace {

std::string guardName(const char* category) { return kMemoryCategoryScope + std::string(category); }

uint64_t of(const MemoryMoment& moment, MemoryCategory category) { return moment.by_category[static_cast<size_t>(category)]; }

TEST(MemoryProfile, TotalsFollowEveryEvent) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.memory(10, 0xA, 100, 100, 0);
  main.memory(20, 0xB, 50, 150, 0);
  main.memory(30, 0xA, -100, 50, 0);
  main.memory(40, 0xC, 70, 120, 512);
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  ASSERT_EQ(profile.devices.size(), 1u);
  const MemoryDevice& device = profile.devices[0];
  EXPECT_EQ(totals(device), (Numbers{100, 150, 50, 120}));
  EXPECT_EQ(device.events[3].total_allocated, 120u);
  EXPECT_EQ(device.events[3].total_reserved, 512u);
  EXPECT_EQ(device.events[2].partner, 0u);
  EXPECT_EQ(device.events[0].partner, 2u);
  EXPECT_EQ(device.events[1].partner, kNoMemoryEvent);
  EXPECT_EQ(device.peak.bytes, 150u);
  EXPECT_EQ(device.peak.time_ns, kHandRealtime + 20);
  EXPECT_EQ(device.allocations, 3u);
  EXPECT_EQ(device.releases, 1u);
  EXPECT_EQ(profile.start_ns, kHandRealtime);
  EXPECT_EQ(profile.end_ns, kHandRealtime + 1000);
  EXPECT_EQ(profile.process_id, kHandProcess);
  EXPECT_TRUE(profile.whole());
}

TEST(MemoryProfile, ThePeakIsTheFirstOfEqualOnesAndHasItsHolders) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("outer", 5);
  main.memory(10, 1, 100, 0, 0);
  main.begin("inner", 15);
  main.memory(20, 2, 300, 0, 0);
  main.memory(21, 3, 1, 0, 0);
  main.end("inner", 15, 25);
  main.memory(30, 2, -300, 0, 0);
  main.memory(31, 4, 300, 0, 0);
  main.end("outer", 5, 40);
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  const MemoryMoment& peak = profile.devices[0].peak;
  EXPECT_EQ(peak.bytes, 401u);
  EXPECT_EQ(peak.time_ns, kHandRealtime + 21);
  EXPECT_EQ(peak.event, 2u);
  EXPECT_EQ(peak.scopes, 2u);
  EXPECT_EQ(holders(profile, peak.holders), (Texts{"outer > inner: 301 in 2", "outer: 100 in 1"}));
}

TEST(MemoryProfile, MemoryIsToldByTheScopesOfItsOwnThread) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  HandThread& worker = capture.thread(12, "worker");
  main.begin("main's", 5);
  worker.memory(10, 1, 64, 0, 0);  // while main's scope is open, on a thread that has none
  main.memory(11, 2, 32, 0, 0);
  main.end("main's", 5, 50);
  worker.memory(60, 2, -32, 0, 0);  // released by another thread
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  const MemoryDevice& device = profile.devices[0];
  EXPECT_EQ(profile.path(device.events[0].scope), "(no scope)");
  EXPECT_EQ(profile.path(device.events[1].scope), "main's");
  EXPECT_EQ(profile.threads[device.events[0].thread].name, "worker");
  EXPECT_EQ(profile.threads[device.events[1].thread].system_id, 11);
  EXPECT_EQ(device.events[2].partner, 1u);
  EXPECT_EQ(profile.threads[device.events[2].thread].name, "worker");
  EXPECT_EQ(totals(device), (Numbers{64, 96, 64}));
  EXPECT_EQ(holders(profile, device.leaks_by_scope), (Texts{"(no scope): 64 in 1"}));
}

TEST(MemoryProfile, WhatIsAllocatedAndReleasedInOneScopeIsTemporary) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  HandThread& worker = capture.thread(12, "worker");
  main.begin("scope", 100);
  main.memory(110, 1, 10, 0, 0);
  main.memory(111, 2, 20, 0, 0);
  main.memory(112, 3, 40, 0, 0);
  main.memory(120, 1, -10, 0, 0);
  worker.memory(130, 2, -20, 0, 0);  // elsewhere, while the scope is open
  main.end("scope", 100, 200);
  main.memory(210, 3, -40, 0, 0);
  main.memory(300, 4, 80, 0, 0);  // outside of any scope
  main.memory(310, 4, -80, 0, 0);
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  const std::vector<MemoryEvent>& events = profile.devices[0].events;
  EXPECT_EQ(events[0].category, MemoryCategory::temporary);
  EXPECT_EQ(events[1].category, MemoryCategory::temporary);
  EXPECT_EQ(events[2].category, MemoryCategory::unknown);
  EXPECT_EQ(events[3].category, MemoryCategory::temporary);
  EXPECT_EQ(events[5].category, MemoryCategory::unknown);
  EXPECT_EQ(events[6].category, MemoryCategory::unknown);
  EXPECT_EQ(of(profile.devices[0].peak, MemoryCategory::unknown), 80u);
}

TEST(MemoryProfile, TheInnermostGuardGivesTheCategory) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  const std::string parameter = guardName("parameter"), gradient = guardName("gradient"), none = guardName("nonsense");
  main.begin(parameter, 10);
  main.begin("scope", 20);
  main.memory(21, 1, 1, 0, 0);
  main.begin(gradient, 30);
  main.memory(31, 2, 2, 0, 0);
  main.memory(32, 2, -2, 0, 0);  // in its scope, yet no temporary: it was said to be something else
  main.memory(33, 3, 4, 0, 0);
  main.end(gradient, 30, 40);
  main.memory(41, 4, 8, 0, 0);
  main.end("scope", 20, 50);
  main.end(parameter, 10, 60);
  main.begin(none, 70);
  main.memory(71, 5, 16, 0, 0);
  main.end(none, 70, 80);
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  const MemoryDevice& device = profile.devices[0];
  EXPECT_EQ(device.events[0].category, MemoryCategory::parameter);
  EXPECT_EQ(device.events[1].category, MemoryCategory::gradient);
  EXPECT_EQ(device.events[2].category, MemoryCategory::gradient);
  EXPECT_EQ(device.events[4].category, MemoryCategory::parameter);
  EXPECT_EQ(device.events[5].category, MemoryCategory::unknown);
  EXPECT_EQ(of(device.peak, MemoryCategory::parameter), 9u);
  EXPECT_EQ(of(device.peak, MemoryCategory::gradient), 4u);
  EXPECT_EQ(of(device.peak, MemoryCategory::unknown), 16u);
  // Guards are no part of the path.
  EXPECT_EQ(holders(profile, device.leaks_by_scope), (Texts{none + ": 16 in 1", "scope: 13 in 3"}));
}

TEST(MemoryProfile, AnAddressMayBeUsedAgainAndMoved) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  for (uint64_t i = 0; i < 3; ++i) {  // the same address, by three scopes
    const std::string name = "use " + std::to_string(i);
    main.begin(name, 100 * i + 10);
    main.memory(100 * i + 20, 7, static_cast<int64_t>(i + 1), 0, 0);
    if (i < 2) main.memory(100 * i + 30, 7, -static_cast<int64_t>(i + 1), 0, 0);
    main.end(name, 100 * i + 10, 100 * i + 40);
  }
  main.memory(400, 7, -3, 0, 0);  // grows: in place, then elsewhere
  main.memory(401, 7, 30, 0, 0);
  main.memory(410, 8, 60, 0, 0);
  main.memory(411, 7, -30, 0, 0);
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  const MemoryDevice& device = profile.devices[0];
  EXPECT_EQ(totals(device), (Numbers{1, 0, 2, 0, 3, 0, 30, 90, 60}));
  ASSERT_EQ(device.leaks.size(), 1u);
  EXPECT_EQ(device.events[device.leaks[0]].address, 8u);
  EXPECT_EQ(device.replaced, 0u);
}

TEST(MemoryProfile, WhatWasAllocatedBeforeTheStartIsCountedApart) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.memory(10, 1, -500, 1000, 0);
  main.memory(20, 2, 8, 1008, 0);
  main.memory(30, 3, -400, 608, 0);
  main.memory(40, 2, -8, 600, 0);
  main.memory(50, 2, -8, 592, 0);  // twice
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  const MemoryDevice& device = profile.devices[0];
  EXPECT_EQ(totals(device), (Numbers{0, 8, 8, 0, 0}));
  EXPECT_EQ(device.events[0].action, MemoryAction::unknown_free);
  EXPECT_EQ(device.unknown_releases, 3u);
  EXPECT_EQ(device.unknown_released_bytes, 908u);
  EXPECT_EQ(device.releases, 1u);
  EXPECT_NE(profile.summary().find("3 releases of memory whose allocation was not seen, 908 bytes"), std::string::npos)
      << profile.summary();
}

TEST(MemoryProfile, AReleaseThatWasNotReportedOrSaysAnotherSizeDoesNotMakeTotalsDrift) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.memory(10, 1, 100, 0, 0);
  main.memory(20, 1, 30, 0, 0);  // still taken
  main.memory(30, 1, -999, 0, 0);
  main.memory(40, 2, INT64_MIN, 0, 0);
  main.memory(50, 3, 0, 0, 0);
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  const MemoryDevice& device = profile.devices[0];
  EXPECT_EQ(totals(device), (Numbers{100, 0, 30, 0, 0}));
  EXPECT_EQ(device.replaced, 1u);
  EXPECT_EQ(device.releases, 1u);
  EXPECT_EQ(device.unknown_released_bytes, uint64_t{1} << 63);
  EXPECT_TRUE(device.leaks.empty());
  EXPECT_EQ(device.allocations, device.releases + device.replaced + device.leaks.size());
  EXPECT_NE(profile.summary().find("CPU: 1 allocation at an address that was still taken"), std::string::npos) << profile.summary();
}

TEST(MemoryProfile, WhereNothingWasAllocatedItSaysWhatThereWas) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("load", 10);
  main.outOfMemory(60, 4096, 0, 0);
  main.memory(70, 1, -700, 0, 0);
  main.memory(71, 2, -700, 0, 0);
  main.end("load", 10, 80);
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  EXPECT_EQ(profile.summary(),
            "CPU: no allocation was seen, only 1 allocation that failed and 2 releases.\n"
            "CPU: out of memory at 60 ns: 4.0 KiB asked for in load, 0 bytes allocated.\n"
            "CPU: 2 releases of memory whose allocation was not seen, 1.4 KiB: it was before the start, not reported, or lost, or two "
            "layers report the same memory. They are in no total.\n");
}

TEST(MemoryProfile, DevicesAreKeptApart) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  const Device first{DeviceType::CUDA, 0}, second{DeviceType::CUDA, 1};
  main.memory(10, 1, 100, 0, 0, second);
  main.memory(20, 1, 200, 0, 0, first);  // one address, three devices
  main.memory(30, 1, 400, 0, 0);
  main.memory(40, 1, -100, 0, 0, second);
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  ASSERT_EQ(profile.devices.size(), 3u);
  EXPECT_EQ(profile.devices[0].device, Device{});
  EXPECT_EQ(profile.devices[1].device, first);
  EXPECT_EQ(profile.devices[2].device, second);
  EXPECT_EQ(totals(profile.devices[0]), (Numbers{400}));
  EXPECT_EQ(totals(profile.devices[1]), (Numbers{200}));
  EXPECT_EQ(totals(profile.devices[2]), (Numbers{100, 0}));
}

}  // namespace
}  // namespace xsigma::profiler::test
