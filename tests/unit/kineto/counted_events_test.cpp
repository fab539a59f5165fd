// Counters of the CPU in events.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "../parsed_json.h"
#include "../profiled.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;

std::vector<uint64_t> counters(const ProfilerResult& result, std::string_view name) {
  std::vector<uint64_t> values;
  event(result, name).getPerfEventCounters(values);
  return values;
}

void touchPages(size_t pages) {
  const size_t bytes = pages * 4096;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * 4096] = 1;
  munmap(memory, bytes);
}

class CountedEvents : public testing::Test {
 protected:
  void SetUp() override {
    config_.experimental_config.performance_events = {"pagefaults"};
    try {
      profile([] {}, config_);
    } catch (const ProfilerError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  static void body() {
    XSIGMA_PROFILE_SCOPE("outer");
    touchPages(30);
    {
      XSIGMA_PROFILE_SCOPE("inner");
      touchPages(100);
    }
  }
  ProfilerConfig config_ = kineto();
};

TEST_F(CountedEvents, HaveTheirOwnAndWhatIsInside) {
  const auto result = profile(body, config_);
  const std::vector<uint64_t> inner = counters(*result, "inner");
  const std::vector<uint64_t> outer = counters(*result, "outer");
  ASSERT_EQ(inner.size(), 1u);
  ASSERT_EQ(outer.size(), 1u);
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr uint64_t kMost = 3000;  // the sanitizer's own memory is touched as well
#else
  constexpr uint64_t kMost = 300;
#endif
  EXPECT_GE(inner[0], 100u);
  EXPECT_LT(inner[0], kMost);
  EXPECT_GE(outer[0], inner[0] + 30);
}

TEST_F(CountedEvents, AreInTheOrderAskedFor) {
  config_.experimental_config.performance_events = {"context-switches", "pagefaults"};
  const std::vector<uint64_t> inner = counters(*profile(body, config_), "inner");
  ASSERT_EQ(inner.size(), 2u);
  EXPECT_LT(inner[0], 100u);
  EXPECT_GE(inner[1], 100u);
}

TEST_F(CountedEvents, AreOfEachThread) {
  enableProfiler(config_, kCpu);
  std::thread([] {
    enableProfilerInChildThread();
    body();
    disableProfilerInChildThread();
  }).join();
  EXPECT_GE(counters(*disableProfiler(), "inner").at(0), 100u);
}

TEST_F(CountedEvents, AreNotThoseOfTheSessionBefore) {
  profile(body, config_);
  EXPECT_TRUE(counters(*profile(body), "inner").empty()) << "this session asked for none";
  profile(body, config_);
  config_.experimental_config.performance_events = {"context-switches", "pagefaults"};
  EXPECT_EQ(counters(*profile(body, config_), "inner").size(), 2u);
}

TEST_F(CountedEvents, AreInTheTraceByName) {
  const Folder folder;
  profile(body, config_)->save(folder / "trace.json");
  const std::vector<parsed::Json> found = parsed::traceEvents(parsed::jsonFile(folder / "trace.json"), "inner", "X");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_GE(found[0]["args"]["pagefaults"].number, 100);
}

}  // namespace
}  // namespace xsigma::profiler
