// Names of earlier recordings do not weigh on later ones.
#include <gtest/gtest.h>
#include <xsigma/profiler/profiler.h>

#include <set>
#include <string>

namespace {

using namespace xsigma::profiler;

void useNames(int count) {
  for (int i = 0; i < count; ++i) {
    XSIGMA_PROFILE_SCOPE_DYNAMIC("request number " + std::to_string(i));
  }
}

std::set<std::string> namesIn(const Capture& capture) {
  std::set<std::string> names;
  capture.forEachRecord([&](const CaptureRecord& record) { names.insert(std::string(record.name)); });
  return names;
}

CaptureOptions smallRing() {
  CaptureOptions options;
  options.policy = CapturePolicy::ring;
  options.byte_cap = 64 * 1024;
  return options;
}

TEST(ManyNames, OfAnEarlierRecordingLeaveASmallRingItsRoom) {
  Recording before = *startRecording();
  useNames(20'000);
  EXPECT_EQ(namesIn(before.stop()).size(), 20'000u);

  Recording recording = *startRecording(smallRing());
  useNames(10);
  const Capture capture = recording.stop();
  EXPECT_EQ(capture.threads().size(), 1u);
  EXPECT_EQ(namesIn(capture).size(), 10u);
  EXPECT_EQ(namesIn(capture).count("request number 7"), 1u);
  EXPECT_TRUE(capture.ledger().whole());
}

TEST(ManyNames, LeaveHalfOfASmallRingToItsRecords) {
  Recording recording = *startRecording(smallRing());
  useNames(5'000);
  const Capture capture = recording.stop();
  const Ledger ledger = capture.ledger();
  EXPECT_EQ(ledger.attempted, 5'000u);
  EXPECT_GT(ledger.recorded, 500u);
  EXPECT_GT(ledger.names_dropped, 0u);
  EXPECT_EQ(namesIn(capture).count("<name not in the capture>"), 1u);
}

TEST(ManyNames, ReachARecordingThatStartsWhileTheyAreInUse) {
  Recording first = *startRecording();
  useNames(3);
  Recording second = *startRecording();
  useNames(3);
  EXPECT_EQ(namesIn(second.stop()), (std::set<std::string>{"request number 0", "request number 1", "request number 2"}));
  EXPECT_EQ(first.stop().ledger().recorded, 6u);
}

}  // namespace
