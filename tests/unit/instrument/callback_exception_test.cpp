// A callback that throws, or that opens scopes itself, does no harm to the function it watches.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../recorded.h"
#include "../warnings.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

int starts = 0;
int ends = 0;

std::unique_ptr<ObserverContext> throwsError(const RecordFunction&) {
  ++starts;
  throw std::runtime_error("out of luck");
}
std::unique_ptr<ObserverContext> throwsInt(const RecordFunction&) {
  ++starts;
  throw 42;
}
std::unique_ptr<ObserverContext> counts(const RecordFunction&) {
  ++starts;
  return nullptr;
}
void endThrowsError(const RecordFunction&, ObserverContext*) {
  ++ends;
  throw std::logic_error("too late");
}
void endThrowsInt(const RecordFunction&, ObserverContext*) {
  ++ends;
  throw 43;
}
void endCounts(const RecordFunction&, ObserverContext*) { ++ends; }

class CallbackException : public testing::Test {
 protected:
  void SetUp() override { starts = ends = 0; }
  void TearDown() override { clearCallbacks(); }

  // Three ranges of two kinds, under the callback and a recording.
  static Capture record(const RecordFunctionCallback& callback) {
    Recording recording = startRecording().value();
    addGlobalCallback(callback);
    for (int i = 0; i < 3; ++i) {
      XSIGMA_PROFILE_SCOPE("watched scope");
      XSIGMA_RECORD_FUNCTION("watched function", {i});
    }
    clearCallbacks();
    return recording.stop();
  }
  static void expectAllRecorded(const Capture& capture) {
    const Ledger ledger = capture.ledger();
    EXPECT_EQ(ledger.recorded, 6u);
    EXPECT_EQ(ledger.unfinished, 0u);
    EXPECT_EQ(recorded::names(capture)[0], "watched scope");
    EXPECT_EQ(recorded::names(capture)[1], "watched function");
  }

  Warnings warnings_;
};

TEST_F(CallbackException, AtTheStartIsReportedOnceAndGoesNoFurther) {
  expectAllRecorded(record(RecordFunctionCallback(throwsError, endCounts)));
  EXPECT_EQ(starts, 6);
  ASSERT_EQ(warnings_.count(), 1u);
  EXPECT_NE(warnings_.all()[0].find("out of luck"), std::string::npos);
  EXPECT_NE(warnings_.all()[0].find("watched scope"), std::string::npos);
}

TEST_F(CallbackException, AtTheEndIsReportedOnceAndGoesNoFurther) {
  expectAllRecorded(record(RecordFunctionCallback(counts, endThrowsError)));
  EXPECT_EQ(ends, 6);
  ASSERT_EQ(warnings_.count(), 1u);
  EXPECT_NE(warnings_.all()[0].find("too late"), std::string::npos);
  EXPECT_NE(warnings_.all()[0].find("watched function"), std::string::npos);
}

TEST_F(CallbackException, MayBeSomethingElseThanAnException) {
  expectAllRecorded(record(RecordFunctionCallback(throwsInt, endThrowsInt)));
  EXPECT_EQ(starts, 6);
  EXPECT_EQ(warnings_.count(), 1u);
}

TEST_F(CallbackException, IsReportedForEachRegistrationThatThrows) {
  record(RecordFunctionCallback(throwsInt));
  record(RecordFunctionCallback(throwsError));
  EXPECT_EQ(warnings_.count(), 2u);
}

TEST_F(CallbackException, LeavesTheOtherCallbacksTheirTurn) {
  addGlobalCallback(RecordFunctionCallback(throwsError, endThrowsError));
  addGlobalCallback(RecordFunctionCallback(counts, endCounts));
  {
    XSIGMA_PROFILE_SCOPE("f");
    EXPECT_EQ(starts, 2);
  }
  EXPECT_EQ(ends, 2);
}

TEST_F(CallbackException, WithoutARecordingTheFunctionGoesOnToo) {
  addThreadLocalCallback(RecordFunctionCallback(throwsInt, endThrowsError));
  int reached = 0;
  {
    XSIGMA_PROFILE_SCOPE("f");
    ++reached;
  }
  ++reached;
  EXPECT_EQ(reached, 2);
  EXPECT_EQ(starts, 1);
  EXPECT_EQ(warnings_.count(), 1u);
}

std::unique_ptr<ObserverContext> opensScopes(const RecordFunction&) {
  ++starts;
  XSIGMA_PROFILE_SCOPE("inside a start callback");
  XSIGMA_RECORD_FUNCTION("also inside", {});
  RecordFunction function;
  function.before("by hand inside");
  return nullptr;
}
void endOpensScopes(const RecordFunction&, ObserverContext*) {
  ++ends;
  XSIGMA_PROFILE_SCOPE("inside an end callback");
}

TEST(ScopeInACallback, DoesNotCallTheCallbackAgain) {
  starts = ends = 0;
  addGlobalCallback(RecordFunctionCallback(opensScopes, endOpensScopes));
  addGlobalCallback(RecordFunctionCallback(counts, endCounts));
  { XSIGMA_PROFILE_SCOPE("f"); }
  { XSIGMA_RECORD_FUNCTION("g", {}); }
  clearCallbacks();
  EXPECT_EQ(starts, 4);
  EXPECT_EQ(ends, 4);
}

TEST(ScopeInACallback, IsRecordedLikeAnyOther) {
  Recording recording = startRecording().value();
  addGlobalCallback(RecordFunctionCallback(opensScopes, endOpensScopes));
  { XSIGMA_PROFILE_SCOPE("f"); }
  clearCallbacks();
  const Capture capture = recording.stop();
  EXPECT_EQ(recorded::names(capture),
            (std::vector<std::string>{"inside a start callback", "also inside", "by hand inside", "f", "inside an end callback"}));
  EXPECT_EQ(recorded::scope(capture, "f").depth, 0u);
  EXPECT_EQ(capture.ledger().unfinished, 0u);
}

}  // namespace
}  // namespace xsigma::profiler
