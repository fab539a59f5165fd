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

struct LastNote final : KeptOutput {
  void put(const DeviceActivity& note) noexcept override { link = note.values[2]; }
  int64_t link = 0;
};
// What so many records and waits take, and how far from the last record the last wait was linked.
struct Steps {
  double seconds = 0;
  int64_t last_link = 0;
};
Steps stepsOf(uint32_t events) {
  constexpr uint32_t kSteps = 60'000;
  LastNote output;
  DeviceRows rows{nullptr, output};
  NoteDecoder decoder{rows, output, true, false};
  const auto begun = std::chrono::steady_clock::now();
  for (uint32_t i = 1; i <= kSteps; ++i) {
    decoder.put(EventRecord{.correlation = 2 * i, .context = 1, .stream = 7, .event = i % events});
    decoder.put(SyncRecord{.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT,
                           .correlation = 2 * i + 1,
                           .context = 1,
                           .stream = 9,
                           .event = i % events});
  }
  decoder.finish();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return {seconds, output.link - int64_t{2} * kSteps};
}

TEST_F(CuptiNotes, OneEventThatIsUsedAgainAndAgainCostsNoMoreThanMany) {
  const Steps many = stepsOf(1000);
  const Steps one = stepsOf(1);
  EXPECT_EQ(many.last_link, 0);
  EXPECT_EQ(one.last_link, 0);
  EXPECT_LT(one.seconds, 4 * many.seconds);
}

TEST_F(CuptiNotes, ANewEventForEachStepIsForgottenInTime) {
  constexpr uint32_t kEvents = 300'000;  // more than are remembered
  const auto begun = std::chrono::steady_clock::now();
  for (uint32_t i = 1; i <= kEvents; ++i) record(i, 2 * i);
  wait(kEvents, 2 * kEvents + 1);
  EXPECT_EQ(linked(), (std::vector<int64_t>{2 * kEvents}));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30)) << "each step looked through all of them";
}

}  // namespace
}  // namespace xsigma::profiler::testing
