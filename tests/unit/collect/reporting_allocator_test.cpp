// ReportingResource, ReportingAllocator and MemoryCounter: what they report by themselves.
#include "xsigma/profiler/reporting_allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory_resource>
#include <string>
#include <thread>
#include <vector>

#include "../recorded.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

using recorded::record;

struct Sum {
  int64_t live = 0;
  uint64_t allocations = 0;
  uint64_t failures = 0;
  uint64_t last_total = 0;
};

Sum sumOf(const Capture& capture) {
  Sum sum;
  for (const recorded::Seen& each : recorded::all(capture)) {
    if (each.kind == RecordKind::out_of_memory) ++sum.failures;
    if (each.kind != RecordKind::memory) continue;
    sum.live += each.bytes;
    sum.allocations += each.bytes > 0;
    sum.last_total = each.total_allocated;
  }
  return sum;
}

// Gives out `room` bytes and then none.
class SmallResource : public std::pmr::memory_resource {
 public:
  explicit SmallResource(size_t room) : room_(room) {}
  size_t alignment = 0;  // as last asked for

 private:
  void* do_allocate(size_t bytes, size_t wanted) override {
    alignment = wanted;
    if (bytes > room_) throw std::bad_alloc();
    room_ -= bytes;
    return std::pmr::new_delete_resource()->allocate(bytes, wanted);
  }
  void do_deallocate(void* address, size_t bytes, size_t wanted) override {
    room_ += bytes;
    std::pmr::new_delete_resource()->deallocate(address, bytes, wanted);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  size_t room_;
};

TEST(ReportingResource, ReportsWhatAVectorTakesAndGivesBack) {
  ReportingResource resource;
  const void* data = nullptr;
  const Capture capture = record([&] {
    std::pmr::vector<int> values(100, 7, &resource);
    data = values.data();
    EXPECT_EQ(resource.total(), 400u);
  });
  EXPECT_EQ(resource.total(), 0u);
  const std::vector<recorded::Seen> reports = recorded::all(capture);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].address, reinterpret_cast<uint64_t>(data));
  EXPECT_EQ(reports[0].bytes, 400);
  EXPECT_EQ(reports[0].total_allocated, 400u);
  EXPECT_EQ(reports[1].address, reinterpret_cast<uint64_t>(data));
  EXPECT_EQ(reports[1].bytes, -400);
  EXPECT_EQ(reports[1].total_allocated, 0u);
}

TEST(ReportingResource, KnowsItsTotalWhenTheRecordingStartsLater) {
  ReportingResource resource(std::pmr::new_delete_resource(), {DeviceType::XPU, 2});
  std::pmr::vector<char> before(1000, 'x', &resource);
  const Capture capture = record([&] {
    const std::pmr::vector<char> during(24, 'y', &resource);
    before = std::pmr::vector<char>(&resource);
    before.shrink_to_fit();
  });
  std::vector<uint64_t> totals;
  for (const recorded::Seen& each : recorded::all(capture)) {
    totals.push_back(each.total_allocated);
    EXPECT_EQ(each.device, (Device{DeviceType::XPU, 2}));
  }
  EXPECT_EQ(totals, (std::vector<uint64_t>{1024, 24, 0}));
  const MemoryProfile profile = analyzeMemory(capture);
  EXPECT_EQ(profile.devices.at(0).unknown_released_bytes, 1000u);
  EXPECT_EQ(profile.devices.at(0).peak.bytes, 24u);
}

TEST(ReportingResource, PassesAlignmentOn) {
  SmallResource upstream(4096);
  ReportingResource resource(&upstream);
  void* const address = resource.allocate(64, 256);
  EXPECT_EQ(upstream.alignment, 256u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % 256, 0u);
  EXPECT_EQ(resource.upstream(), &upstream);
  resource.deallocate(address, 64, 256);
  EXPECT_EQ(resource.total(), 0u);
}

TEST(ReportingResource, ReportsWhatCouldNotBeHadAndThrowsOn) {
  SmallResource upstream(100);
  ReportingResource resource(&upstream);
  const Capture capture = record([&] {
    const std::pmr::vector<char> fits(60, 'x', &resource);
    EXPECT_THROW(std::pmr::vector<char>(50, 'y', &resource), std::bad_alloc);
    EXPECT_EQ(resource.total(), 60u);
  });
  const std::vector<recorded::Seen> failures = recorded::all(capture, RecordKind::out_of_memory);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].bytes, 50);
  EXPECT_EQ(failures[0].total_allocated, 60u);
  EXPECT_EQ(sumOf(capture).allocations, 1u);
  EXPECT_EQ(resource.total(), 0u);
}

// So that no other thread can have got and reported an address whose release has not been reported yet.
TEST(ReportingResource, ReportsWhileTheMemoryIsItsOwn) {
  struct Telling : std::pmr::memory_resource {
    void* do_allocate(size_t bytes, size_t wanted) override {
      recordInstant("got");
      return std::pmr::new_delete_resource()->allocate(bytes, wanted);
    }
    void do_deallocate(void* address, size_t bytes, size_t wanted) override {
      recordInstant("given back");
      std::pmr::new_delete_resource()->deallocate(address, bytes, wanted);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
  };
  Telling upstream;
  ReportingResource resource(&upstream);
  MemoryCounter counter;
  using OverPmr = ReportingAllocator<char, std::pmr::polymorphic_allocator<char>>;
  const Capture capture = record([&] {
    { const std::pmr::vector<char> values(8, 'x', &resource); }
    { const std::vector<char, OverPmr> values(8, 'x', OverPmr(counter, &upstream)); }
  });
  std::vector<std::string> order;
  for (const recorded::Seen& each : recorded::all(capture)) order.push_back(each.kind == RecordKind::memory ? "report" : each.name);
  EXPECT_EQ(order, (std::vector<std::string>{"got", "report", "report", "given back", "got", "report", "report", "given back"}));
}

TEST(ReportingResource, IsEqualToItselfOnly) {
  ReportingResource a, b;
  EXPECT_TRUE(a.is_equal(a));
  EXPECT_FALSE(a.is_equal(b));  // or memory counted by one would be released by the other
}

template <class T>
using Reported = std::vector<T, ReportingAllocator<T>>;

TEST(ReportingAllocator, ContainersShareACounter) {
  MemoryCounter counter;
  const Capture capture = record([&] {
    Reported<int> values(100, 1, counter);
    using Pair = std::pair<const int, std::string>;
    std::map<int, std::string, std::less<int>, ReportingAllocator<Pair>> names{ReportingAllocator<Pair>(counter)};
    std::list<double, ReportingAllocator<double>> numbers{ReportingAllocator<double>(counter)};
    for (int i = 0; i < 10; ++i) {
      names[i] = "n";
      numbers.push_back(i);
    }
    values.resize(1000);
    names.erase(3);
    EXPECT_GE(counter.total(), 4000u + 9 * sizeof(Pair) + 10 * sizeof(double));
  });
  EXPECT_EQ(counter.total(), 0u);
  const Sum sum = sumOf(capture);
  EXPECT_EQ(sum.live, 0);
  EXPECT_EQ(sum.allocations, 22u);
  EXPECT_EQ(sum.last_total, 0u);
  EXPECT_TRUE(analyzeMemory(capture).devices.at(0).leaks.empty());
}

TEST(ReportingAllocator, GoesAlongWhenAContainerIsMovedOrSwapped) {
  MemoryCounter first, second;
  Reported<int> a(100, 1, first);
  Reported<int> b(50, 2, second);
  const int* const data = a.data();
  std::swap(a, b);
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(&b.get_allocator().counter(), &first);
  a = std::move(b);
  EXPECT_EQ(a.data(), data);
  EXPECT_EQ(second.total(), 0u);
  EXPECT_EQ(first.total(), 400u);
  Reported<int> copy = a;  // counts where its original does
  EXPECT_EQ(first.total(), 800u);
  Reported<int> assigned(second);
  assigned = a;  // stays with its own
  EXPECT_EQ(second.total(), 400u);
  const Reported<int> moved = std::move(a);
  EXPECT_EQ(moved.data(), data);
  copy.clear();
  copy.shrink_to_fit();
  EXPECT_EQ(first.total(), 400u);
}

TEST(ReportingAllocator, IsEqualIfCounterAndUpstreamAre) {
  MemoryCounter first, second;
  EXPECT_TRUE(ReportingAllocator<int>(first) == ReportingAllocator<double>(ReportingAllocator<int>(first)));
  EXPECT_TRUE(ReportingAllocator<int>(first) != ReportingAllocator<int>(second));
  using OverPmr = ReportingAllocator<int, std::pmr::polymorphic_allocator<int>>;
  SmallResource small(1000);
  EXPECT_TRUE(OverPmr(first, &small) != OverPmr(first));
  EXPECT_TRUE(OverPmr(first, &small) == OverPmr(first, &small));
}

TEST(ReportingAllocator, StaysWhereItsUpstreamCannotFollow) {
  MemoryCounter counter;
  SmallResource one(1000), other(1000);
  using OverPmr = ReportingAllocator<int, std::pmr::polymorphic_allocator<int>>;
  std::vector<int, OverPmr> a(10, 1, OverPmr(counter, &one));
  std::vector<int, OverPmr> b(OverPmr(counter, &other));
  const int* const data = a.data();
  b = std::move(a);
  EXPECT_NE(b.data(), data);  // copied: the memory of one resource must not be given back to the other
  EXPECT_EQ(b.get_allocator().upstream().resource(), &other);
  EXPECT_EQ(b, (std::vector<int, OverPmr>(10, 1, OverPmr(counter, &one))));
}

TEST(ReportingAllocator, ReportsWhatCouldNotBeHadAndThrowsOn) {
  MemoryCounter counter;
  SmallResource small(100);
  using OverPmr = ReportingAllocator<int, std::pmr::polymorphic_allocator<int>>;
  const Capture capture = record([&] {
    EXPECT_THROW((std::vector<int, OverPmr>(26, 1, OverPmr(counter, &small))), std::bad_alloc);
    EXPECT_THROW(static_cast<void>(ReportingAllocator<int>(counter).allocate(SIZE_MAX)), std::bad_alloc);
  });
  const std::vector<recorded::Seen> failures = recorded::all(capture, RecordKind::out_of_memory);
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0].bytes, 104);
  EXPECT_EQ(failures[1].bytes, INT64_MAX);
  EXPECT_EQ(counter.total(), 0u);
}

TEST(ReportingAllocator, AnElementThatThrowsLeavesNothingBehind) {
  struct Throws {
    Throws() { throw std::runtime_error("no"); }
  };
  MemoryCounter counter;
  EXPECT_THROW((Reported<Throws>(3, counter)), std::runtime_error);
  EXPECT_EQ(counter.total(), 0u);
}

TEST(ReportingAllocator, MakesElementsAsItsUpstreamDoes) {
  using Upstream = std::pmr::polymorphic_allocator<std::pmr::string>;
  ReportingResource resource;
  MemoryCounter counter;
  std::vector<std::pmr::string, ReportingAllocator<std::pmr::string, Upstream>> texts({counter, Upstream(&resource)});
  texts.emplace_back("long enough to need memory of its own, and not a place inside the string");
  EXPECT_EQ(texts.front().get_allocator().resource(), &resource);
  EXPECT_GT(resource.total(), counter.total());
}

template <class T>
struct Counting {
  using value_type = T;
  static inline int made = 0;
  static inline int unmade = 0;

  T* allocate(size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* place, size_t count) { std::allocator<T>().deallocate(place, count); }
  template <class... Args>
  void construct(T* place, Args... args) {
    new (place) T(args...);
    ++made;
  }
  void destroy(T*) { ++unmade; }
  size_t max_size() const noexcept { return 5; }
  bool operator==(const Counting&) const { return true; }
};

TEST(ReportingAllocator, AsksItsUpstreamForEveryElementAndForTheMost) {
  MemoryCounter counter;
  {
    std::vector<int, ReportingAllocator<int, Counting<int>>> numbers({counter, Counting<int>()});
    numbers.reserve(4);
    numbers.push_back(1);
    numbers.push_back(2);
    EXPECT_EQ(Counting<int>::made, 2);
    EXPECT_EQ(numbers.max_size(), 5u);
  }
  EXPECT_EQ(Counting<int>::unmade, 2);
}

TEST(ReportingAllocator, AlignsWhatIsOverAligned) {
  struct alignas(128) Wide {
    char bytes[128];
  };
  MemoryCounter counter;
  const Reported<Wide> values(3, counter);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(values.data()) % 128, 0u);
  EXPECT_EQ(counter.total(), 384u);
}

TEST(ReportingAllocator, WithoutACounterTheProcessHasOne) {
  const uint64_t before = MemoryCounter::ofProcess().total();
  const Reported<char> values(77);
  EXPECT_EQ(MemoryCounter::ofProcess().total(), before + 77);
}

TEST(MemoryCounter, IsExactUnderManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 5000;
  ReportingResource resource;
  MemoryCounter counter;
  std::pmr::vector<char> kept(123, 'k', &resource);
  const Capture capture = record([&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kRounds; ++i) {
          const std::pmr::vector<char> a(static_cast<size_t>(i % 97 + 1), 'a', &resource);
          const Reported<char> b(static_cast<size_t>(t + 1), 'b', counter);
        }
      });
    }
    for (std::thread& each : threads) each.join();
  });
  EXPECT_EQ(resource.total(), 123u);
  EXPECT_EQ(counter.total(), 0u);
  EXPECT_EQ(sumOf(capture).allocations, 2u * kThreads * kRounds);
  const MemoryDevice device = analyzeMemory(capture).devices.at(0);
  EXPECT_TRUE(device.leaks.empty());
  EXPECT_EQ(device.unknown_releases, 0u);
  EXPECT_EQ(device.replaced, 0u);  // an address is reported released before another thread can have it
}

}  // namespace
}  // namespace xsigma::profiler
