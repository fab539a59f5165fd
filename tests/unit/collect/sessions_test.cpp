// Recordings side by side, and beside user callbacks: each sees what it should, nothing more.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../recorded.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

using Names = std::vector<std::string>;

void scopeCalled(const char* name) { XSIGMA_PROFILE_SCOPE_DYNAMIC(name); }

TEST(Sessions, EachSeesTheScopesOfItsOwnTime) {
  Recording first = startRecording().value();
  scopeCalled("a");
  Recording second = startRecording().value();
  scopeCalled("b");
  const Capture first_capture = first.stop();
  scopeCalled("c");
  const Capture second_capture = second.stop();
  scopeCalled("d");
  EXPECT_EQ(recorded::names(first_capture), (Names{"a", "b"}));
  EXPECT_EQ(recorded::names(second_capture), (Names{"b", "c"}));
}

TEST(Sessions, EachSeesThemOnOtherThreadsToo) {
  Recording first = startRecording().value();
  std::thread([&] {
    scopeCalled("a");
    Recording second = startRecording().value();
    XSIGMA_PROFILE_SCOPE("static b");
    XSIGMA_RECORD_FUNCTION("function b", {1});
    scopeCalled("c");
    const Capture capture = second.stop();
    EXPECT_EQ(recorded::names(capture), (Names{"static b", "function b", "c"}));
    EXPECT_EQ(capture.ledger().unfinished, 2u);
    scopeCalled("d");
  }).join();
  const Capture capture = first.stop();
  EXPECT_EQ(recorded::names(capture), (Names{"a", "static b", "function b", "c", "d"}));
  EXPECT_EQ(capture.ledger().unfinished, 0u);
}

TEST(Sessions, AScopeOpenedBeforeTheStartIsNotInIt) {
  std::optional<Recording> outer;
  std::optional<Recording> inner;
  {
    XSIGMA_PROFILE_SCOPE("before both");
    outer = startRecording().value();
    {
      XSIGMA_PROFILE_SCOPE("in the outer");
      RecordFunction function;
      function.before("function in the outer");
      inner = startRecording().value();
      scopeCalled("in both");
    }
  }
  const Capture inner_capture = inner->stop();
  const Capture outer_capture = outer->stop();
  EXPECT_EQ(recorded::names(inner_capture), Names{"in both"});
  EXPECT_EQ(recorded::all(inner_capture).size(), 2u);
  EXPECT_EQ(recorded::names(outer_capture), (Names{"in the outer", "function in the outer", "in both"}));
  EXPECT_EQ(outer_capture.ledger().unfinished, 0u);
  EXPECT_EQ(recorded::all(outer_capture).size(), 6u);
}

TEST(Sessions, AScopeThatOutlivesOneSessionDoesNotEndInTheNext) {
  std::optional<Recording> recording = startRecording().value();
  {
    XSIGMA_PROFILE_SCOPE("open");
    EXPECT_EQ(recording->stop().ledger().unfinished, 1u);
    recording = startRecording().value();
  }
  EXPECT_TRUE(recorded::all(recording->stop()).empty());
}

TEST(Sessions, FourMayRunAtOnceAndTheFifthIsToldSo) {
  std::vector<Recording> recordings;
  for (int i = 0; i < 3; ++i) recordings.push_back(startRecording().value());
  std::optional<RecordQueue> queue = RecordQueue::create().value();
  const Expected<Recording> fifth = startRecording();
  ASSERT_FALSE(fifth.ok());
  EXPECT_EQ(fifth.status().code(), StatusCode::busy);
  EXPECT_NE(fifth.message().find("4 recordings"), std::string::npos);
  EXPECT_EQ(RecordQueue::create().status().code(), StatusCode::busy);
  scopeCalled("in three");
  queue->instant("in the queue");
  for (Recording& recording : recordings) EXPECT_EQ(recorded::names(recording.stop()), Names{"in three"});
  EXPECT_EQ(recorded::all(queue->stop()).size(), 1u);
  EXPECT_TRUE(startRecording().ok());
}

TEST(Sessions, ARecordingThatIsDestroyedMakesRoom) {
  for (int i = 0; i < 10; ++i) {
    const Expected<Recording> recording = startRecording();
    ASSERT_TRUE(recording.ok()) << recording.message();
  }
}

TEST(Sessions, StoppedTwiceGiveTheSameCapture) {
  Recording recording = startRecording().value();
  scopeCalled("a");
  const Capture first = recording.stop();
  scopeCalled("b");
  const Capture second = recording.stop();
  EXPECT_EQ(recorded::names(second), Names{"a"});
  EXPECT_EQ(&first.info(), &second.info());
  EXPECT_TRUE(first.info().closed);
}

TEST(Sessions, ASnapshotHoldsWhatWasThereAtItsTime) {
  Recording recording = startRecording().value();
  scopeCalled("a");
  const Capture early = recording.snapshot();
  scopeCalled("b");
  EXPECT_EQ(recorded::names(early), Names{"a"});
  EXPECT_FALSE(early.info().closed);
  EXPECT_EQ(recorded::names(recording.stop()), (Names{"a", "b"}));
}

int starts = 0;

RecordFunctionCallback counting() {
  return RecordFunctionCallback([](const RecordFunction&) -> std::unique_ptr<ObserverContext> {
    ++starts;
    return nullptr;
  });
}

TEST(RecordingBesideCallbacks, IsNoCallbackItself) {
  Recording recording = startRecording().value();
  EXPECT_FALSE(hasCallbacks());
  EXPECT_FALSE(hasGlobalCallbacks());
  EXPECT_FALSE(hasThreadLocalCallbacks());
  scopeCalled("a");
  clearCallbacks();
  scopeCalled("b");
  EXPECT_TRUE(get_record_function_tls_().sorted_tls_callbacks_.empty());
  EXPECT_EQ(recorded::names(recording.stop()), (Names{"a", "b"}));
}

TEST(RecordingBesideCallbacks, BothGetEveryScope) {
  starts = 0;
  addGlobalCallback(counting());
  scopeCalled("before");
  Recording recording = startRecording().value();
  {
    XSIGMA_PROFILE_SCOPE("opened under a callback");
    clearCallbacks();
  }
  {
    XSIGMA_PROFILE_SCOPE("opened without");
    addThreadLocalCallback(counting());
  }
  scopeCalled("both");
  const Capture capture = recording.stop();
  clearCallbacks();
  EXPECT_EQ(starts, 3);
  EXPECT_EQ(recorded::names(capture), (Names{"opened under a callback", "opened without", "both"}));
  EXPECT_EQ(capture.ledger().unfinished, 0u);
}

TEST(RecordingBesideCallbacks, IsSilencedByTheSwitchOfTheThread) {
  Recording recording = startRecording().value();
  {
    XSIGMA_PROFILE_SCOPE("open when it was switched off");
    const DisableRecordFunctionGuard off;
    scopeCalled("silent");
    XSIGMA_RECORD_FUNCTION("silent function", {});
    recordInstant("silent mark");
    std::thread([] { scopeCalled("on another thread"); }).join();
  }
  scopeCalled("again");
  const Capture capture = recording.stop();
  EXPECT_EQ(recorded::names(capture), (Names{"open when it was switched off", "again", "on another thread"}));
  EXPECT_TRUE(recorded::all(capture, RecordKind::instant).empty());
  EXPECT_EQ(capture.ledger().unfinished, 0u);
}

}  // namespace
}  // namespace xsigma::profiler
