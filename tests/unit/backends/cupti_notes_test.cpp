// Waits for events, linked to the records of them, however many events a program has.
#include <gtest/gtest.h>

#include <chrono>

#include "backends/cupti/note_decoder.h"
#include "kept_output.h"

namespace xsigma::profiler::testing {
namespace {

using backends::cupti::DeviceRows;
using backends::cupti::EventRecord;
using backends::cupti::NoteDecoder;
using backends::cupti::SyncRecord;

class CuptiNotes : public ::testing::Test {
 protected:
  void record(uint32_t event, uint32_t correlation, uint32_t stream = 7) {
    decoder.put(EventRecord{.correlation = correlation, .context = 1, .stream = stream, .event = event});
  }
  void wait(uint32_t event, uint32_t correlation) {
    decoder.put(SyncRecord{.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT,
                           .correlation = correlation,
                           .context = 1,
                           .stream = 9,
                           .event = event});
  }
  // Which record each wait was linked to, by correlation; −1 = none.
  std::vector<int64_t> linked() {
    decoder.finish();
    std::vector<int64_t> all;
    for (const KeptActivity& note : output.of(DeviceRole::note)) all.push_back(note.values[2]);
    return all;
  }

  KeptOutput output;
  DeviceRows rows{nullptr, output};
  NoteDecoder decoder{rows, output, true, false};
};

TEST_F(CuptiNotes, AWaitIsForTheLastRecordBeforeIt) {
  wait(1, 5);
  record(1, 10);
  record(1, 30);
  record(1, 20);  // read late: it is another thread's
  wait(1, 25);
  wait(1, 15);
  wait(1, 99);
  EXPECT_EQ(linked(), (std::vector<int64_t>{-1, 20, 10, 30}));
}

// Time is what can be told: both take milliseconds now, and took minutes.
TEST_F(CuptiNotes, AnEventThatIsUsedAgainAndAgainCostsNoMoreThanAtFirst) {
  const auto begun = std::chrono::steady_clock::now();
  for (uint32_t i = 1; i <= 200'000; ++i) {
    record(1, 2 * i);
    wait(1, 2 * i + 1);
  }
  const std::vector<int64_t> all = linked();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
  ASSERT_EQ(all.size(), 200'000u);
  EXPECT_EQ(all.front(), 2);
  EXPECT_EQ(all.back(), 400'000);
}

TEST_F(CuptiNotes, ANewEventForEachStepCostsNoMoreThanAtFirst) {
  const auto begun = std::chrono::steady_clock::now();
  for (uint32_t i = 1; i <= 300'000; ++i) record(i, 2 * i);
  wait(300'000, 600'001);
  EXPECT_EQ(linked(), (std::vector<int64_t>{600'000}));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
}

}  // namespace
}  // namespace xsigma::profiler::testing
