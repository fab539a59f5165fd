// A million balanced allocations on four threads, and three that are never released; totals beside a counter of the program's own.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kBalanced = 100'000;
#else
constexpr int kBalanced = 1'000'000;
#endif
constexpr int kThreads = 4;

class Memory : public testing::Test {
 protected:
  static void onThreads(const std::function<void(int)>& body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(body, i);
    for (std::thread& each : threads) each.join();
  }
};

TEST_F(Memory, ThreeLeaksAreNamedAmongAMillionBalancedAllocations) {
  ReportingResource resource;
  std::array<void*, 3> leaked{};
  constexpr std::array<size_t, 3> kLeakedBytes = {24, 4096, 160};
  startMemoryProfile();
  onThreads([&](int number) {
    setThreadName("worker " + std::to_string(number));
    XSIGMA_PROFILE_SCOPE("worker");
    std::array<void*, 16> kept{};
    for (int i = 0; i < kBalanced / kThreads; ++i) {
      XSIGMA_PROFILE_SCOPE("request");
      void*& place = kept[static_cast<size_t>(i) % kept.size()];
      if (place != nullptr) resource.deallocate(place, 32);
      {
        XSIGMA_PROFILE_SCOPE("answer");
        place = resource.allocate(32);
      }
      if (number == 3 || i != kBalanced / 8 + number) continue;
      XSIGMA_PROFILE_SCOPE_DYNAMIC("mistake " + std::to_string(number));
      leaked[static_cast<size_t>(number)] = resource.allocate(kLeakedBytes[static_cast<size_t>(number)]);
    }
    for (void* const place : kept) resource.deallocate(place, 32);
  });
  stopMemoryProfile();
  const MemoryProfile profile = memoryProfile();
  ASSERT_TRUE(profile.whole());
  const MemoryDevice& device = profile.devices.at(0);
  EXPECT_EQ(device.allocations, static_cast<uint64_t>(kBalanced) + 3);
  EXPECT_EQ(device.releases, static_cast<uint64_t>(kBalanced));
  EXPECT_EQ(device.replaced, 0u);
  EXPECT_EQ(device.unknown_releases, 0u);
  EXPECT_EQ(device.leaked_bytes, resource.total());
  ASSERT_EQ(device.leaks.size(), 3u);
  const size_t by_size[] = {1, 2, 0};
  for (size_t i = 0; i < 3; ++i) {
    const MemoryEvent& leak = device.events[device.leaks[i]];
    const size_t number = by_size[i];
    EXPECT_EQ(leak.address, reinterpret_cast<uint64_t>(leaked[number]));
    EXPECT_EQ(leak.bytes, kLeakedBytes[number]);
    EXPECT_EQ(profile.path(leak.scope), "worker > request > mistake " + std::to_string(number));
    EXPECT_EQ(profile.threads[leak.thread].name, "worker " + std::to_string(number));
  }
  EXPECT_LE(device.peak.bytes, 4u * 17 * 32 + 24 + 4096 + 160);
  EXPECT_GE(device.peak.bytes, 4096u + 160);
  for (size_t i = 0; i < 3; ++i) resource.deallocate(leaked[i], kLeakedBytes[i]);
}

// Reports are made under a lock, so that their order is known.
TEST_F(Memory, TotalsEqualTheProgramsOwnCounterAtEveryEvent) {
  constexpr int kRounds = kBalanced / 50;
  std::mutex mutex;
  uint64_t counter = 0;
  std::vector<uint64_t> expected;
  std::map<uint64_t, int64_t> live;
  uint64_t next = 0x1000;
  startMemoryProfile();
  onThreads([&](int number) {
    unsigned random = static_cast<unsigned>(number) + 1;
    for (int i = 0; i < kRounds; ++i) {
      random = random * 1664525 + 1013904223;
      XSIGMA_PROFILE_SCOPE_DYNAMIC(random >> 28 & 1 ? "one" : "other");
      const std::lock_guard lock(mutex);
      if (live.size() > 200 || (!live.empty() && (random >> 24 & 1) != 0)) {
        auto victim = live.lower_bound(0x1000 + (random >> 4) % 4096);  // of whichever thread
        if (victim == live.end()) victim = live.begin();
        counter -= static_cast<uint64_t>(victim->second);
        reportMemoryUsage(reinterpret_cast<void*>(victim->first), -victim->second, counter, 0);
        live.erase(victim);
      } else {
        const int64_t bytes = (random >> 12 & 1023) + 1;
        while (live.count(next = 0x1000 + (next * 7 + 1) % 4099) != 0) {
        }
        live[next] = bytes;
        counter += static_cast<uint64_t>(bytes);
        reportMemoryUsage(reinterpret_cast<void*>(next), bytes, counter, 0);
      }
      expected.push_back(counter);
    }
  });
  stopMemoryProfile();
  const MemoryProfile profile = memoryProfile();
  const MemoryDevice& device = profile.devices.at(0);
  ASSERT_EQ(device.events.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(device.events[i].allocated, expected[i]) << "after event " << i;
    ASSERT_EQ(device.events[i].total_allocated, expected[i]) << "after event " << i;
  }
  EXPECT_EQ(device.leaks.size(), live.size());
}

// Nothing is in order here but each thread by itself; what is alive after each event is worked out a second time, by address.
TEST_F(Memory, TotalsAreThoseOfTheAddressesThatAreAlive) {
  ReportingResource resource;
  std::array<std::atomic<void*>, 64> exchange{};  // allocated by one thread, released by another
  startMemoryProfile();
  onThreads([&](int number) {
    unsigned random = static_cast<unsigned>(number) + 1;
    for (int i = 0; i < kBalanced / 20; ++i) {
      random = random * 1664525 + 1013904223;
      if (void* const old = exchange[random >> 26].exchange(resource.allocate(48))) resource.deallocate(old, 48);
    }
  });
  stopMemoryProfile();
  const MemoryProfile profile = memoryProfile();
  const MemoryDevice& device = profile.devices.at(0);
  std::map<uint64_t, uint64_t> alive;
  uint64_t total = 0;
  for (const MemoryEvent& event : device.events) {
    if (event.action == MemoryAction::alloc) {
      ASSERT_TRUE(alive.emplace(event.address, event.bytes).second);
      total += event.bytes;
    } else {
      ASSERT_EQ(event.action, MemoryAction::free);
      ASSERT_EQ(alive.erase(event.address), 1u);
      total -= event.bytes;
    }
    ASSERT_EQ(event.allocated, total);
  }
  EXPECT_EQ(total, resource.total());
  EXPECT_EQ(device.replaced, 0u);
  for (std::atomic<void*>& each : exchange) {
    if (each != nullptr) resource.deallocate(each, 48);
  }
}

}  // namespace
}  // namespace xsigma::profiler
