// Arrows between events: forward to backward, and the flows that given events bring.
#include "assemble/links.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace xsigma::profiler::assemble {
namespace {

struct Op {
  uint64_t thread;  // of the forward side
  int64_t sequence;
  uint64_t id;
  int64_t start;
  bool is_backward;
};
Op forward(uint64_t thread, int64_t sequence, uint64_t id, int64_t start) { return {thread, sequence, id, start, false}; }
Op backward(uint64_t thread, int64_t sequence, uint64_t id, int64_t start) { return {thread, sequence, id, start, true}; }

// A row for each thread with forward ops, in the order of their appearance, and a last one for the backward ops.
std::vector<TraceLink> link(const std::vector<Op>& ops, uint64_t first_id) {
  std::vector<TraceRow> rows;
  std::vector<Leftovers> threads;
  std::vector<BackwardOp> backward_ops;
  for (const Op& op : ops) {
    if (op.is_backward) {
      backward_ops.push_back({op.thread, op.sequence, op.id, op.start, 0});
      continue;
    }
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const TraceRow& row) { return row.logical_id == op.thread; });
    const auto row = static_cast<size_t>(found - rows.begin());
    if (found == rows.end()) {
      rows.push_back({1, 100 + static_cast<int64_t>(row), op.thread, ""});
      threads.emplace_back();
    }
    threads[row].forward_ops.push_back({op.sequence, op.id, op.start});
  }
  for (BackwardOp& op : backward_ops) op.row = static_cast<uint32_t>(rows.size());
  rows.push_back({1, 99, UINT64_MAX, ""});
  threads.emplace_back().backward_ops = std::move(backward_ops);
  return linkForwardBackward(rows, threads, first_id);
}

TEST(Links, GoFromForwardToBackwardOfTheSameThreadAndNumber) {
  const std::vector<TraceLink> links = link({forward(1, 7, 100, 10), forward(1, 8, 101, 20), backward(1, 8, 201, 50), backward(1, 7, 200, 60)}, 1);
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].from_event, 100u);
  EXPECT_EQ(links[0].to_event, 200u);
  EXPECT_EQ(links[0].from_ns, 10);
  EXPECT_EQ(links[0].to_ns, 60);
  EXPECT_EQ(links[0].from_row, 0u);
  EXPECT_EQ(links[0].to_row, 1u);
  EXPECT_EQ(links[1].from_event, 101u);
  EXPECT_EQ(links[1].to_event, 201u);
}

TEST(Links, IdsCountFromTheFirstOneAndDiffer) {
  const std::vector<TraceLink> links = link({forward(1, 1, 1, 1), forward(1, 2, 2, 2), backward(1, 1, 3, 3), backward(1, 2, 4, 4)}, 40);
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].id, 40u);
  EXPECT_EQ(links[1].id, 41u);
}

TEST(Links, TheInnermostForwardOpWins) {
  // An op that calls another one has the same number: the inner one starts later.
  const std::vector<TraceLink> links = link({forward(1, 5, 10, 100), forward(1, 5, 11, 110), backward(1, 5, 20, 500)}, 1);
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].from_event, 11u);
}

TEST(Links, ANumberIsLinkedOnce) {
  const std::vector<TraceLink> links =
      link({forward(1, 5, 10, 100), backward(1, 5, 20, 500), backward(1, 5, 21, 510), backward(1, 5, 22, 600)}, 1);
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].to_event, 20u);
}

TEST(Links, OthersThreadsAndNumbersAreLeftAlone) {
  EXPECT_TRUE(link({forward(1, 5, 10, 100), backward(2, 5, 20, 500)}, 1).empty());
  EXPECT_TRUE(link({forward(1, 5, 10, 100), backward(1, 6, 20, 500)}, 1).empty());
  EXPECT_TRUE(link({forward(1, 5, 10, 100)}, 1).empty());
  EXPECT_TRUE(link({backward(1, 5, 20, 500)}, 1).empty());
  EXPECT_TRUE(link({}, 1).empty());
}

TEST(Links, NeverPointBackInTime) {
  EXPECT_TRUE(link({forward(1, 5, 10, 600), backward(1, 5, 20, 500)}, 1).empty());
  const std::vector<TraceLink> links = link({forward(1, 5, 10, 100), forward(1, 5, 11, 600), backward(1, 5, 20, 500)}, 1);
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].from_event, 10u);
}

TEST(Links, ThreadsAndNumbersOfAnySizeAreToldApart) {
  // Where thread and number were packed into 64 bits, those that differ by 2^16 or 2^48 would meet.
  const uint64_t threads[] = {1, 1 + (uint64_t{1} << 16), 1 + (uint64_t{1} << 31), uint64_t{1} << 32, (uint64_t{1} << 32) + 1};
  const int64_t numbers[] = {3, 3 + (int64_t{1} << 32), 3 + (int64_t{1} << 48)};
  std::vector<Op> candidates;
  uint64_t id = 1;
  for (const uint64_t thread : threads) {
    for (const int64_t number : numbers) {
      candidates.push_back(forward(thread, number, id, static_cast<int64_t>(id)));
      candidates.push_back(backward(thread, number, id + 1000, static_cast<int64_t>(id) + 1000));
      ++id;
    }
  }
  const std::vector<TraceLink> links = link(candidates, 1);
  ASSERT_EQ(links.size(), 15u);
  for (const TraceLink& link : links) EXPECT_EQ(link.from_event + 1000, link.to_event);
}

TEST(Links, FlowsJoinAStartWithItsEnds) {
  const uint8_t launch = static_cast<uint8_t>(TraceLink::Kind::launch);
  const std::vector<TraceLink> links =
      linkFlows({{9, launch, false, 3, 500, 31}, {9, launch, true, 0, 100, 30}, {9, launch, false, 4, 600, 32}});
  ASSERT_EQ(links.size(), 2u) << "one launch may start several kernels";
  for (const TraceLink& link : links) {
    EXPECT_EQ(link.kind, TraceLink::Kind::launch);
    EXPECT_EQ(link.id, 9u);
    EXPECT_EQ(link.from_ns, 100);
    EXPECT_EQ(link.from_event, 30u);
  }
  EXPECT_EQ(links[0].to_row, 3u);
  EXPECT_EQ(links[1].to_row, 4u);
}

TEST(Links, HalfAFlowMakesNoLink) {
  const uint8_t launch = static_cast<uint8_t>(TraceLink::Kind::launch);
  EXPECT_TRUE(linkFlows({{9, launch, true, 0, 100, 30}}).empty());
  EXPECT_TRUE(linkFlows({{9, launch, false, 0, 100, 30}}).empty());
  EXPECT_TRUE(linkFlows({{9, launch, true, 0, 100, 30}, {10, launch, false, 0, 200, 31}}).empty());
  EXPECT_TRUE(linkFlows({{9, launch, true, 0, 100, 30}, {9, 1, false, 0, 200, 31}}).empty()) << "of different kinds";
  EXPECT_TRUE(linkFlows({{9, 77, true, 0, 100, 30}, {9, 77, false, 0, 200, 31}}).empty()) << "of a kind that no reader knows";
}

}  // namespace
}  // namespace xsigma::profiler::assemble
