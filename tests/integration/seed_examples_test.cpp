// The examples of the seed documents, letter for letter, inside the program that a user would paste them into.
#include <gtest/gtest.h>

#include <filesystem>

#include "../unit/parsed_json.h"
#include "../unit/profiled.h"
#include "xsigma/profiler/profiler.h"

#ifdef XSIGMA_ENABLE_KINETO
#include "profiler/kineto_shim.h"
#endif

namespace {

using namespace xsigma::profiler;

// The examples save trace.json where they are.
class SeedExamples : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::current_path(folder_.path()); }
  void TearDown() override { std::filesystem::current_path("/"); }

  static parsed::Json savedTrace() { return parsed::jsonFile("trace.json"); }

  profiled::Folder folder_;
};

void someCode() {
  XSIGMA_PROFILE_FUNCTION();
  XSIGMA_PROFILE_SCOPE("inside");
}

void expectSomeCode(const parsed::Json& trace) {
  ASSERT_EQ(parsed::traceEvents(trace, "someCode", "X").size(), 1u);
  ASSERT_EQ(parsed::traceEvents(trace, "inside", "X").size(), 1u);
  const parsed::Json outer = parsed::traceEvents(trace, "someCode", "X")[0];
  const parsed::Json inner = parsed::traceEvents(trace, "inside", "X")[0];
  EXPECT_EQ(outer["cat"].text, "cpu_op");
  EXPECT_EQ(inner["cat"].text, "user_annotation");
  EXPECT_EQ(outer["tid"].text, inner["tid"].text);
  EXPECT_GE(inner["ts"].number, outer["ts"].number);
  EXPECT_LE(inner["ts"].number + inner["dur"].number, outer["ts"].number + outer["dur"].number + 0.0005);
}

TEST_F(SeedExamples, BasicProfilingSavesATraceOfTheCode) {
  ProfilerConfig config(ProfilerState::KINETO);
  std::set<ActivityType> activities{ActivityType::CPU};
  enableProfiler(config, activities);
  someCode();
  auto result = disableProfiler();
  result->save("trace.json");

  expectSomeCode(savedTrace());
  EXPECT_EQ(profiled::names(*result), (profiled::Names{"someCode", "inside"}));
  EXPECT_EQ(folder_.files(), profiled::Names{"trace.json"});
}

TEST_F(SeedExamples, MemoryProfilingHasTheAllocations) {
  ProfilerConfig config(ProfilerState::KINETO, false, true);
  std::set<ActivityType> activities{ActivityType::CPU};
  enableProfiler(config, activities);
  someCode();
  char block[32];
  reportMemoryUsage(block, sizeof block, sizeof block, 64);
  auto result = disableProfiler();

  EXPECT_EQ(profiled::names(*result), (profiled::Names{"someCode", "inside", "[memory]"}));
  EXPECT_EQ(profiled::event(*result, "[memory]").nBytes(), 32);
}

TEST_F(SeedExamples, MultiThreadPastedIntoOneFunctionRecordsItOnce) {
  ProfilerConfig config(ProfilerState::KINETO);
  std::set<ActivityType> activities{ActivityType::CPU};

  enableProfiler(config, activities);
  if (isProfilerEnabledInMainThread()) {
    enableProfilerInChildThread();
    someCode();
    disableProfilerInChildThread();
  }
  auto result = disableProfiler();

  EXPECT_EQ(profiled::names(*result), (profiled::Names{"someCode", "inside"}));
}

TEST_F(SeedExamples, MultiThreadAsItIsMeantRecordsTheChild) {
  ProfilerConfig config(ProfilerState::KINETO);
  std::set<ActivityType> activities{ActivityType::CPU};

  enableProfiler(config, activities);
  std::thread child([] {
    if (isProfilerEnabledInMainThread()) {
      enableProfilerInChildThread();
      someCode();
      disableProfilerInChildThread();
    }
    profiled::scopeCalled("after leaving");
  });
  child.join();
  auto result = disableProfiler();

  EXPECT_EQ(profiled::names(*result), (profiled::Names{"someCode", "inside"}));
  EXPECT_NE(profiled::event(*result, "someCode").startThreadId(), RecordFunction::currentThreadId());
}

TEST_F(SeedExamples, KinetoProfilingSavesATraceOfTheCode) {
#ifdef XSIGMA_ENABLE_KINETO
  xsigma::profiler::kineto_init();
  xsigma::profiler::kineto_start_trace();
  someCode();
  auto trace = xsigma::profiler::kineto_stop_trace();
  trace->save("trace.json");
#endif

  expectSomeCode(savedTrace());
}

}  // namespace
