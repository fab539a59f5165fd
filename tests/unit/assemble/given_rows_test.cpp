// Rows for events that bring their own place: slices of one row nest or are disjoint.
#include "assemble/given_rows.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace xsigma::profiler::assemble {
namespace {

class GivenRows : public testing::Test {
 protected:
  Placed& add(int64_t process, int64_t thread, int64_t start, int64_t end, bool slice = true) {
    events_.push_back(std::make_unique<Placed>(Placed{process, thread, start, end, slice}));
    return *events_.back();
  }
  void place() {
    std::vector<Placed*> pointers;
    for (const auto& event : events_) pointers.push_back(event.get());
    placeGiven(pointers, rows_, taken_);
  }

  std::vector<std::unique_ptr<Placed>> events_;
  std::vector<TraceRow> rows_;
  std::vector<bool> taken_;
};

TEST_F(GivenRows, ThreadsRowsThatAreFreeAreUsed) {
  rows_ = {{1, 10, 5, "main"}};
  taken_ = {false};
  const Placed& event = add(1, 10, 0, 100);
  place();
  EXPECT_EQ(event.row, 0u);
  EXPECT_EQ(rows_.size(), 1u);
}

TEST_F(GivenRows, RowsWithScopesAreLeftToThem) {
  rows_ = {{1, 10, 5, "main"}};
  taken_ = {true};
  const Placed& event = add(1, 10, 0, 100);
  const Placed& point = add(1, 10, 50, 50, false);
  place();
  ASSERT_EQ(rows_.size(), 2u);
  EXPECT_EQ(event.row, 1u);
  EXPECT_EQ(rows_[1].process_id, 1);
  EXPECT_NE(rows_[1].thread_id, 10);
  EXPECT_NE(rows_[1].name.find("main"), std::string::npos) << rows_[1].name;
  EXPECT_EQ(rows_[1].logical_id, 0u);
  EXPECT_EQ(point.row, 0u) << "points fit anywhere";
}

TEST_F(GivenRows, NewPlacesGetRowsOfTheirOwn) {
  const Placed& kernel = add(0, 7, 0, 100);
  const Placed& copy = add(0, 8, 0, 100);
  const Placed& second = add(0, 7, 200, 300);
  place();
  ASSERT_EQ(rows_.size(), 2u);
  EXPECT_EQ(kernel.row, second.row);
  EXPECT_NE(kernel.row, copy.row);
  EXPECT_EQ(rows_[copy.row].thread_id, 8);
}

TEST_F(GivenRows, NestsWhatNestsAndMovesWhatCrosses) {
  const Placed& outer = add(0, 7, 0, 100);
  const Placed& inner = add(0, 7, 10, 50);
  const Placed& deeper = add(0, 7, 20, 50);
  const Placed& crossing = add(0, 7, 30, 60);
  const Placed& after = add(0, 7, 100, 120);
  place();
  EXPECT_EQ(outer.depth, 0);
  EXPECT_EQ(inner.depth, 1);
  EXPECT_EQ(deeper.depth, 2);
  EXPECT_EQ(inner.row, outer.row);
  EXPECT_EQ(deeper.row, outer.row);
  EXPECT_EQ(after.row, outer.row);
  EXPECT_EQ(after.depth, 0);
  EXPECT_NE(crossing.row, outer.row);
  EXPECT_EQ(crossing.depth, 0);
}

TEST_F(GivenRows, ALongerOneOfTheSameStartIsOutside) {
  const Placed& inner = add(0, 7, 0, 50);
  const Placed& outer = add(0, 7, 0, 100);
  const Placed& empty = add(0, 7, 0, 0);
  place();
  EXPECT_EQ(outer.depth, 0);
  EXPECT_EQ(inner.depth, 1);
  EXPECT_EQ(empty.row, outer.row);
  EXPECT_EQ(rows_.size(), 1u);
}

TEST_F(GivenRows, WhateverComesNoRowHasSlicesThatCross) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    events_.clear();
    rows_ = {{1, 10, 5, "main"}, {1, 11, 6, "other"}, {1, 10, 7, "a thread that got the number of the first"}};
    taken_ = {true, false, false};
    std::mt19937 random(seed);
    for (int i = 0; i < 200; ++i) {
      const auto start = static_cast<int64_t>(random() % 300);
      add(random() % 3, 9 + random() % 4, start, start + static_cast<int64_t>(random() % 40), random() % 10 != 0);
    }
    place();
    std::map<std::pair<int64_t, int64_t>, std::vector<const Placed*>> by_row;
    std::set<std::pair<int64_t, int64_t>> named;
    for (const TraceRow& row : rows_) named.insert({row.process_id, row.thread_id});
    EXPECT_EQ(named.size(), rows_.size() - 1) << "only the two threads of one number share a row";
    for (const auto& event : events_) {
      ASSERT_LT(event->row, rows_.size());
      EXPECT_EQ(rows_[event->row].process_id, event->process_id);
      if (event->slice) by_row[{rows_[event->row].process_id, rows_[event->row].thread_id}].push_back(event.get());
    }
    for (const auto& [row, slices] : by_row) {
      for (const Placed* const a : slices) {
        for (const Placed* const b : slices) {
          EXPECT_FALSE(a->start_ns < b->start_ns && b->start_ns < a->end_ns && a->end_ns < b->end_ns) << "seed " << seed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace xsigma::profiler::assemble
