// What schedule() says for each step.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "../profiled.h"
#include "../warnings.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;

// N none, W warm-up, R record, S record and save.
std::string actions(const Schedule& of, int64_t steps = 60) {
  std::string text;
  for (int64_t step = 0; step < steps; ++step) text += "NWRS"[static_cast<int>(of(step))];
  return text;
}

// Laid out by hand, cycle after cycle.
TEST(ASchedule, GoesThroughItsCyclesForSixtySteps) {
  const Warnings warnings;  // two of them have no warm-up
  EXPECT_EQ(actions(schedule(1, 1, 3)), "NWRRSNWRRSNWRRSNWRRSNWRRSNWRRSNWRRSNWRRSNWRRSNWRRSNWRRSNWRRS");
  EXPECT_EQ(actions(schedule(0, 1, 2)), "WRSWRSWRSWRSWRSWRSWRSWRSWRSWRSWRSWRSWRSWRSWRSWRSWRSWRSWRSWRS") << "no wait";
  EXPECT_EQ(actions(schedule(2, 1, 3, 2)), "NNWRRSNNWRRSNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN") << "two cycles";
  EXPECT_EQ(actions(schedule(1, 0, 2, 3)), "NRSNRSNRSNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN") << "no warm-up";
  EXPECT_EQ(actions(schedule(3, 2, 1, 0, 5)), "NNNNNNNNWWSNNNWWSNNNWWSNNNWWSNNNWWSNNNWWSNNNWWSNNNWWSNNNWWSN") << "five skipped, one active";
  EXPECT_EQ(actions(schedule(4, 1, 2, 0, 0, 1)), "WRSNNNNWRSNNNNWRSNNNNWRSNNNNWRSNNNNWRSNNNNWRSNNNNWRSNNNNWRSN")
      << "without the first wait";
  EXPECT_EQ(actions(schedule(2, 2, 4, 2, 3, 1)), "NNNWWRRRSNNWWRRRSNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN") << "everything at once";
  EXPECT_EQ(actions(schedule(0, 0, 1, 7)), "SSSSSSSNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN") << "nothing but saving";
  EXPECT_EQ(actions(schedule(5, 3, 10, 1, 1)), "NNNNNNWWWRRRRRRRRRSNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN") << "one long cycle";
}

TEST(ASchedule, IsTheSameWheneverItIsAsked) {
  const Schedule one = schedule(1, 1, 2);
  EXPECT_EQ(one(4'000'000'003), ProfilerAction::RECORD_AND_SAVE);
  EXPECT_EQ(one(0), ProfilerAction::NONE);
  EXPECT_EQ(one(4'000'000'001), ProfilerAction::WARMUP);
}

TEST(ASchedule, RefusesWhatIsNoNumberOfStepsByName) {
  expectWords(refusal([] { schedule(-1, 1, 1); }), {"wait = -1"});
  expectWords(refusal([] { schedule(1, -2, 1); }), {"warmup = -2"});
  expectWords(refusal([] { schedule(1, 1, 0); }), {"active = 0", "from 1"});
  expectWords(refusal([] { schedule(1, 1, -3); }), {"active = -3"});
  expectWords(refusal([] { schedule(1, 1, 1, -4); }), {"repeat = -4"});
  expectWords(refusal([] { schedule(1, 1, 1, 0, -5); }), {"skip_first = -5"});
  expectWords(refusal([] { schedule(1, 1, 1, 0, 0, -6); }), {"skip_first_wait = -6"});
  expectWords(refusal([] { schedule(std::numeric_limits<int64_t>::max(), 1, 1); }), {"wait = 9223372036854775807"});
  expectWords(refusal([] { schedule(1, 1, 1)(-1); }), {"step -1"});
}

TEST(ASchedule, WithoutWarmUpWarnsOncePerScheduleMade) {
  const Warnings warnings;
  const Schedule one = schedule(1, 0, 1);
  actions(one);
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"warmup = 0", "Use warmup = 1"});
  schedule(0, 0, 1);
  EXPECT_EQ(warnings.count(), 2u);
  schedule(0, 1, 1);
  EXPECT_EQ(warnings.count(), 2u);
}

TEST(AnAction, HasAName) {
  EXPECT_STREQ(toString(ProfilerAction::NONE), "NONE");
  EXPECT_STREQ(toString(ProfilerAction::WARMUP), "WARMUP");
  EXPECT_STREQ(toString(ProfilerAction::RECORD), "RECORD");
  EXPECT_STREQ(toString(ProfilerAction::RECORD_AND_SAVE), "RECORD_AND_SAVE");
  EXPECT_EQ(static_cast<int>(ProfilerAction::RECORD_AND_SAVE), 3);
}

}  // namespace
}  // namespace xsigma::profiler
