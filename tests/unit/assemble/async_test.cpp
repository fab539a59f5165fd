// What begins on one thread and ends on another.
#include "assembled.h"

namespace xsigma::profiler::test {
namespace {

using capture::OpDetails;

TEST(AsyncRanges, JoinTheirEndsByNameAndIdOverThreads) {
  HandCapture capture;
  HandThread& first = capture.thread(11, "first");
  HandThread& second = capture.thread(12, "second");
  first.asyncBegin("request", 7, 100);
  first.asyncBegin("request", 8, 150);
  second.asyncEnd("request", 8, 300);
  second.asyncEnd("request", 7, 900);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  const auto requests = trace.all("request");
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0]->event.duration_ns, 800);
  EXPECT_EQ(requests[1]->event.duration_ns, 150);
  for (const Assembled::Entry* const each : requests) {
    EXPECT_EQ(each->event.kind, TraceEventKind::async_slice);
    EXPECT_EQ(trace.row(*each).thread_id, 11);
    ASSERT_NE(each->details, nullptr);
    EXPECT_EQ(trace.totals().rows[each->details->end_row - 1].thread_id, 12);
  }
  EXPECT_EQ(trace.totals().unfinished, 0u);
  EXPECT_EQ(trace.totals().unmatched, 0u);
  const std::string json = exportText(done);
  EXPECT_EQ(countOf(json, "\"ph\": \"b\""), 2u);
  EXPECT_EQ(countOf(json, "\"ph\": \"e\""), 2u);
  EXPECT_EQ(countOf(json, "\"End thread\": 12"), 2u);
  EXPECT_EQ(checkerSays(json), "");
}

TEST(AsyncRanges, AnIdMayBeUsedAgain) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  for (uint64_t i = 0; i < 5; ++i) {
    main.asyncBegin("again", 1, 100 * i + 10);
    main.asyncEnd("again", 1, 100 * i + 20 + i);
  }
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  const auto ranges = trace.all("again");
  ASSERT_EQ(ranges.size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(ranges[i]->event.duration_ns, static_cast<int64_t>(10 + i));
  EXPECT_EQ(checkerSays(exportText(done)), "");
}

TEST(AsyncRanges, NamesTellRangesOfOneIdApart) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.asyncBegin("read", 1, 10);
  main.asyncBegin("write", 1, 20);
  main.asyncEnd("write", 1, 30);
  main.asyncEnd("read", 1, 40);
  const Assembled trace(capture.finish(100));
  EXPECT_EQ(trace.duration("read"), 30);
  EXPECT_EQ(trace.duration("write"), 10);
}

TEST(AsyncRanges, HalvesAreCountedAndBeginsShown) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.asyncEnd("no begin", 1, 10);
  main.asyncBegin("no end", 2, 20);
  main.asyncEnd("before its begin", 3, 30);
  main.asyncBegin("before its begin", 3, 40);
  const Capture done = capture.finish(100);
  const Assembled trace(done);
  EXPECT_EQ(trace.totals().unmatched, 2u);
  EXPECT_EQ(trace.totals().unfinished, 2u);
  EXPECT_EQ(trace.start("no end") + trace.duration("no end"), 100);
  EXPECT_TRUE(trace["no end"].event.flags & kEventUnfinished);
  const std::string json = exportText(done);
  EXPECT_TRUE(contains(json, "\"unmatched\": 2")) << json;
  EXPECT_EQ(checkerSays(json), "");
}

TEST(AsyncFunctions, EndOnAnotherThread) {
  HandCapture capture;
  HandThread& first = capture.thread(11, "first");
  HandThread& second = capture.thread(12, "second");
  first.begin("around", 50);
  const uint64_t id = first.begin("moved", 100, OpDetails{.sequence_number = 9, .id = 5000});
  ASSERT_EQ(id, 5000u);
  first.scope("inside", 110, 120);
  second.endElsewhere("moved", 5000, 100, 700);
  first.end("around", 50, 300);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  EXPECT_EQ(trace["moved"].event.kind, TraceEventKind::async_slice);
  EXPECT_EQ(trace.start("moved"), 100);
  EXPECT_EQ(trace.duration("moved"), 600);
  EXPECT_EQ(trace["moved"].details->sequence_number, 9);
  EXPECT_EQ(trace.duration("around"), 250);
  EXPECT_EQ(trace["around"].event.kind, TraceEventKind::slice);
  EXPECT_EQ(trace["inside"].event.kind, TraceEventKind::slice);
  EXPECT_EQ(trace.totals().unfinished, 0u);
  EXPECT_EQ(trace.totals().unmatched, 0u);
  EXPECT_EQ(done.ledger().unfinished, 0u);
  EXPECT_EQ(checkerSays(exportText(done)), "");
}

TEST(AsyncFunctions, ThatEndedElsewhereAreNotAroundWhatBeganLater) {
  HandCapture capture;
  HandThread& first = capture.thread(11, "first");
  HandThread& second = capture.thread(12, "second");
  first.begin("around", 50);
  first.begin("moved", 100, OpDetails{.id = 5000});
  first.scope("inside", 110, 120);
  second.endElsewhere("moved", 5000, 100, 300);
  first.begin("after", 400);
  first.scope("in after", 410, 420);
  first.end("after", 400, 500);
  first.end("around", 50, 600);
  first.scope("last", 700, 800);
  const Assembled trace(capture.finish(1000));
  EXPECT_EQ(trace.parent("inside"), "moved");
  EXPECT_EQ(trace.parent("after"), "around");
  EXPECT_EQ(trace.parent("in after"), "after");
  EXPECT_EQ(trace.parent("last"), "");
}

TEST(AsyncFunctions, OnOneThreadOverlapWhatTheyLike) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("async", 100, OpDetails{.id = 5000, .async = true});
  main.begin("plain", 200);
  main.end("async", 100, 300);
  main.end("plain", 200, 400);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  EXPECT_EQ(trace["async"].event.kind, TraceEventKind::async_slice);
  EXPECT_FALSE(trace["async"].event.flags & kEventOverlaps);
  EXPECT_EQ(trace.duration("async"), 200);
  EXPECT_EQ(trace["plain"].event.kind, TraceEventKind::slice);
  EXPECT_EQ(trace["plain"].event.depth, 0) << "an asynchronous one is around nothing";
  EXPECT_EQ(trace.duration("plain"), 200);
  EXPECT_EQ(trace.totals().overlapping, 0u);
  EXPECT_EQ(checkerSays(exportText(done)), "");
}

TEST(AsyncFunctions, WithoutAnEndAreUnfinished) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("async", 100, OpDetails{.id = 5000, .async = true});
  main.scope("plain", 200, 300);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  EXPECT_TRUE(trace["async"].event.flags & kEventUnfinished);
  EXPECT_EQ(trace["async"].event.kind, TraceEventKind::async_slice);
  EXPECT_EQ(trace.duration("async"), 900);
  EXPECT_EQ(trace.duration("plain"), 100);
  EXPECT_EQ(checkerSays(exportText(done)), "");
}

TEST(AsyncFunctions, WhoseBeginIsGoneAreCounted) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.endElsewhere("begin lost", 5000, 100, 700);
  const Assembled trace(capture.finish(1000));
  EXPECT_EQ(trace.totals().unmatched, 1u);
}

}  // namespace
}  // namespace xsigma::profiler::test
