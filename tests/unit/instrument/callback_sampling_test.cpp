// samplingProb: the share of ranges that a callback sees.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

int starts = 0;
int ends = 0;

RecordFunctionCallback sampled(double probability) {
  starts = ends = 0;
  RecordFunctionCallback callback(
      [](const RecordFunction&) -> std::unique_ptr<ObserverContext> {
        ++starts;
        return nullptr;
      },
      [](const RecordFunction&, ObserverContext*) { ++ends; });
  callback.samplingProb(probability);
  return callback;
}

void openScopes(int count) {
  for (int i = 0; i < count; ++i) {
    XSIGMA_PROFILE_SCOPE("sampled");
  }
}

std::vector<int> rangesSeen(uint32_t seed) {
  set_record_function_seed_for_testing(seed);
  const CallbackHandle handle = addGlobalCallback(sampled(0.1));
  std::vector<int> seen;
  for (int i = 0; i < 1000; ++i) {
    const int before = starts;
    openScopes(1);
    if (starts != before) seen.push_back(i);
  }
  removeCallback(handle);
  return seen;
}

class CallbackSampling : public testing::Test {
 protected:
  void SetUp() override { set_record_function_seed_for_testing(20); }
  void TearDown() override { clearCallbacks(); }
};

TEST_F(CallbackSampling, ZeroNeverRuns) {
  addGlobalCallback(sampled(0.0));
  openScopes(10000);
  EXPECT_EQ(starts, 0);
  EXPECT_EQ(ends, 0);
}

TEST_F(CallbackSampling, OneAlwaysRuns) {
  addGlobalCallback(sampled(1.0));
  openScopes(10000);
  EXPECT_EQ(starts, 10000);
  EXPECT_EQ(ends, 10000);
}

TEST_F(CallbackSampling, ATenthRunsForAboutOneInTen) {
  addGlobalCallback(sampled(0.1));
  openScopes(100000);
  const double deviation = std::sqrt(100000 * 0.1 * 0.9);
  EXPECT_NEAR(starts, 10000, 4 * deviation);
  EXPECT_EQ(ends, starts);
}

TEST_F(CallbackSampling, AHalfRunsForAboutEveryOtherOfRecordFunctionToo) {
  addThreadLocalCallback(sampled(0.5));
  int active = 0;
  for (int i = 0; i < 40000; ++i) {
    RecordFunction function(RecordScope::BACKWARD_FUNCTION);
    function.before("backward");
    active += function.isActive();
  }
  EXPECT_NEAR(starts, 20000, 400);
  EXPECT_EQ(active, starts);
}

TEST_F(CallbackSampling, DoesNotTouchTheCallbackBesideIt) {
  static int others = 0;
  others = 0;
  addGlobalCallback(sampled(0.1));
  addGlobalCallback(RecordFunctionCallback([](const RecordFunction&) -> std::unique_ptr<ObserverContext> {
    ++others;
    return nullptr;
  }));
  openScopes(1000);
  EXPECT_EQ(others, 1000);
  EXPECT_GT(starts, 30);
  EXPECT_LT(starts, 200);
}

TEST_F(CallbackSampling, TheSameSeedPicksTheSameRanges) {
  const std::vector<int> first = rangesSeen(7);
  EXPECT_GT(first.size(), 30u);
  EXPECT_EQ(rangesSeen(7), first);
  EXPECT_NE(rangesSeen(8), first);
}

TEST_F(CallbackSampling, RefusesWhatIsNoProbability) {
  RecordFunctionCallback callback = sampled(0.25);
  for (const double wrong : {-0.1, 1.0001, 2.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(callback.samplingProb(wrong), ProfilerError) << wrong;
  }
  try {
    callback.samplingProb(1.5);
  } catch (const ProfilerError& error) {
    EXPECT_NE(std::string(error.what()).find("Invalid sampling probability 1.5"), std::string::npos);
  }
  EXPECT_EQ(callback.samplingProb(), 0.25);
}

}  // namespace
}  // namespace xsigma::profiler
