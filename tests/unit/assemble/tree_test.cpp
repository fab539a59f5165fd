// From hand-written records to a tree: parents, children, self time, links, rows.
#include "assembled.h"

namespace xsigma::profiler::test {
namespace {

using capture::OpDetails;

TEST(AssembledTree, HasParentsChildrenTimesAndSelfTimes) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("outer", 100);
  main.begin("first", 150);
  main.scope("leaf", 160, 170);
  main.end("first", 150, 250);
  main.scope("second", 300, 450);
  main.end("outer", 100, 1000);
  main.scope("later", 1000, 1001);
  const Assembled trace(capture.finish(2000));
  EXPECT_EQ(trace.entries().size(), 5u);
  EXPECT_EQ(trace.parent("outer"), "");
  EXPECT_EQ(trace.parent("first"), "outer");
  EXPECT_EQ(trace.parent("leaf"), "first");
  EXPECT_EQ(trace.parent("later"), "");
  EXPECT_EQ(trace.children("outer"), "first second");
  EXPECT_EQ(trace.start("outer"), 100);
  EXPECT_EQ(trace.duration("outer"), 900);
  EXPECT_EQ(trace.start("leaf"), 160);
  EXPECT_EQ(trace.duration("leaf"), 10);
  EXPECT_EQ(trace.self("outer"), 900 - 100 - 150);
  EXPECT_EQ(trace.self("first"), 100 - 10);
  EXPECT_EQ(trace["leaf"].event.depth, 2);
  EXPECT_EQ(trace.totals().end_ns, kHandRealtime + 2000);
  EXPECT_TRUE(trace.totals().complete);
}

TEST(AssembledTree, IdsAreUniqueAndOrdinalsRiseWithTheBegins) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  HandThread& other = capture.thread(12, "other");
  const uint64_t outer = main.begin("outer", 1);
  const uint64_t inner = main.scope("inner", 2, 3);
  main.end("outer", 1, 4);
  const uint64_t beside = other.scope("beside", 1, 4);
  const Assembled trace(capture.finish(10));
  EXPECT_EQ(trace["outer"].event.id, outer);
  EXPECT_EQ(trace["inner"].event.id, inner);
  EXPECT_EQ(trace["beside"].event.id, beside);
  EXPECT_LT(trace["outer"].event.ordinal, trace["inner"].event.ordinal);
  EXPECT_NE(trace["beside"].event.ordinal, trace["outer"].event.ordinal);
  EXPECT_NE(trace["beside"].event.ordinal, trace["inner"].event.ordinal);
}

TEST(AssembledTree, RecursionNests) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  for (uint64_t i = 0; i < 50; ++i) main.begin("again", 10 + i);
  for (uint64_t i = 50; i-- > 0;) main.end("again", 10 + i, 200 - i);
  const Assembled trace(capture.finish(1000));
  ASSERT_EQ(trace.entries().size(), 50u);
  for (size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(trace.entries()[i].event.depth, i);
    EXPECT_EQ(trace.entries()[i].parent, i == 0 ? assemble::kNoParent : i - 1);
    EXPECT_EQ(trace.entries()[i].event.duration_ns, static_cast<int64_t>(190 - 2 * i));
    EXPECT_EQ(trace.entries()[i].event.kind, TraceEventKind::slice);
  }
}

TEST(AssembledTree, TiesAndZeroLengthScopesNestAsTheyBegan) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("a", 100);
  main.begin("b", 100);
  main.begin("c", 100);
  main.end("c", 100, 100);
  main.scope("d", 100, 100);
  main.end("b", 100, 200);
  main.end("a", 100, 200);
  main.scope("e", 200, 200);
  main.scope("f", 200, 300);
  const Assembled trace(capture.finish(1000));
  EXPECT_EQ(trace.parent("a"), "");
  EXPECT_EQ(trace.parent("b"), "a");
  EXPECT_EQ(trace.parent("c"), "b");
  EXPECT_EQ(trace.parent("d"), "b");
  EXPECT_EQ(trace.parent("e"), "");
  EXPECT_EQ(trace.parent("f"), "");
  for (const Assembled::Entry& entry : trace.entries()) EXPECT_EQ(entry.event.kind, TraceEventKind::slice) << trace.name(entry);
  EXPECT_EQ(trace.self("b"), 100);
  EXPECT_EQ(trace.self("a"), 0);
}

TEST(AssembledTree, WhereTimesTieTheOuterScopeStandsFirstInTheFile) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("outer", 100);
  main.begin("middle", 100);
  main.scope("inner", 100, 200);
  main.instant("point", 200);
  main.scope("empty", 200, 200);
  main.end("middle", 100, 200);
  main.end("outer", 100, 200);
  main.begin("open", 300);
  main.begin("open too", 300);
  const std::string json = exportText(capture.finish(1000));
  const auto at = [&](const char* name) { return json.find(std::string("\"name\": \"") + name + "\""); };
  EXPECT_LT(at("outer"), at("middle")) << json;
  EXPECT_LT(at("middle"), at("inner")) << json;
  EXPECT_LT(at("open"), at("open too")) << json;
}

TEST(AssembledTree, ScopesOfOneNameAndOneTickAreToldApart) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  for (int i = 0; i < 3; ++i) main.begin("same", 100);
  for (int i = 0; i < 3; ++i) main.end("same", 100, 100);
  const Assembled trace(capture.finish(1000));
  ASSERT_EQ(trace.entries().size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(trace.entries()[i].event.depth, i);
    EXPECT_EQ(trace.entries()[i].parent, i == 0 ? assemble::kNoParent : i - 1);
  }
}

TEST(AssembledTree, LastsLongerThanThirtyTwoBitsOfTicks) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("hours", 5);
  main.scope("inside", 3 * kHandWindow + 7, 4 * kHandWindow + 9);
  main.end("hours", 5, 10 * kHandWindow);
  const Assembled trace(capture.finish(11 * kHandWindow));
  EXPECT_EQ(trace.start("hours"), 5);
  EXPECT_EQ(trace.duration("hours"), static_cast<int64_t>(10 * kHandWindow - 5));
  EXPECT_EQ(trace.parent("inside"), "hours");
  EXPECT_EQ(trace.start("inside"), static_cast<int64_t>(3 * kHandWindow + 7));
  EXPECT_EQ(trace.duration("inside"), static_cast<int64_t>(kHandWindow + 2));
}

TEST(AssembledTree, TimesFollowThePiecesOfTheClock) {
  // Two ticks a nanosecond in the first second, one in the next.
  HandClock clock;
  clock.ticks_per_ms = 1'000'000;
  clock.pairs = {{kHandStart + 2'000'000'000, kHandMonotonic + 1'000'000'000}};
  HandCapture capture(clock);
  HandThread& main = capture.thread(11, "main");
  main.scope("quick", 1000, 3000);
  main.scope("across", 1'999'999'000, 2'000'000'500);
  main.scope("slow", 2'000'001'000, 2'000'003'000);
  const Assembled trace(capture.finish(3'000'000'000));
  EXPECT_EQ(trace.start("quick"), 500);
  EXPECT_EQ(trace.duration("quick"), 1000);
  EXPECT_EQ(trace.start("across"), 999'999'500);
  EXPECT_EQ(trace.duration("across"), 1000);
  EXPECT_EQ(trace.start("slow"), 1'000'001'000);
  EXPECT_EQ(trace.duration("slow"), 2000);
}

TEST(AssembledTree, RowsAreThreadsWithTheirNames) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main", 70000);
  HandThread& worker = capture.thread(12, "a \"worker\"");
  main.scope("here", 1, 2);
  worker.scope("there", 1, 2);
  const Capture done = capture.finish(10);
  const Assembled trace(done);
  EXPECT_EQ(trace.row(trace["here"]).thread_id, 11);
  EXPECT_EQ(trace.row(trace["here"]).logical_id, 70000u);
  EXPECT_EQ(trace.row(trace["here"]).process_id, kHandProcess);
  EXPECT_EQ(trace.row(trace["there"]).thread_id, 12);
  EXPECT_EQ(trace.row(trace["there"]).name, "a \"worker\"");
  const std::string json = exportText(done);
  EXPECT_TRUE(contains(json, R"~("name": "thread_name", "ts": 3000000.000, "pid": 4242, "tid": 11, "args": {"name": "thread 11 (main)"})~"))
      << json;
  EXPECT_TRUE(contains(json, R"~("args": {"name": "thread 12 (a \"worker\")"})~")) << json;
}

TEST(AssembledTree, KindsOfScopesAreKindsOfActivities) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("annotation", 1, {}, RecordScope::USER_SCOPE);
  main.scope("op", 2, 3);
  main.end("annotation", 1, 4, RecordScope::USER_SCOPE);
  const std::string json = exportText(capture.finish(10));
  EXPECT_TRUE(contains(jsonLine(json, "annotation"), R"("cat": "user_annotation")")) << json;
  EXPECT_TRUE(contains(jsonLine(json, "op"), R"("cat": "cpu_op")")) << json;
}

TEST(AssembledTree, ForwardAndBackwardAreLinkedOverThreads) {
  HandCapture capture;
  HandThread& forward = capture.thread(11, "forward", 70000);
  HandThread& backward = capture.thread(12, "backward", 4464);  // 70000 - 2^16
  forward.begin("outer", 100, OpDetails{.sequence_number = 5});
  forward.scope("inner", 110, 120, OpDetails{.sequence_number = 5});
  forward.end("outer", 100, 200);
  forward.scope("unused", 210, 220, OpDetails{.sequence_number = 6});
  backward.scope("own", 300, 310, OpDetails{.sequence_number = 5});  // of its own thread, not of the first
  backward.begin("grad", 400, OpDetails{.sequence_number = 5, .forward_thread = 70000});
  backward.scope("grad inner", 410, 420, OpDetails{.sequence_number = 5, .forward_thread = 70000});
  backward.end("grad", 400, 500);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  ASSERT_EQ(trace.totals().links.size(), 1u);
  const TraceLink& link = trace.totals().links[0];
  EXPECT_EQ(link.from_event, trace["inner"].event.id);
  EXPECT_EQ(link.to_event, trace["grad"].event.id);
  EXPECT_EQ(link.from_ns, kHandRealtime + 110);
  EXPECT_EQ(link.to_ns, kHandRealtime + 400);
  EXPECT_EQ(link.kind, TraceLink::Kind::forward_backward);
  const std::string json = exportText(done);
  EXPECT_EQ(countOf(json, "\"cat\": \"fwdbwd\""), 2u);
  EXPECT_TRUE(contains(jsonLine(json, "fwdbwd", "s"), R"("tid": 11, "ts": 3000000.110)")) << json;
  EXPECT_TRUE(contains(jsonLine(json, "fwdbwd", "f"), R"("tid": 12, "ts": 3000000.400)")) << json;
  EXPECT_TRUE(contains(jsonLine(json, "fwdbwd", "f"), R"("bp": "e")")) << json;
  EXPECT_EQ(checkerSays(json), "");
}

TEST(AssembledTree, ACaptureWithoutRecordsIsATraceWithoutEvents) {
  HandCapture capture;
  capture.thread(11, "idle");
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  EXPECT_TRUE(trace.entries().empty());
  EXPECT_EQ(trace.totals().events, 0u);
  EXPECT_EQ(trace.totals().rows.size(), 1u);
  EXPECT_EQ(checkerSays(exportText(done)), "");
  EXPECT_EQ(checkerSays(exportText(Capture())), "");
}

}  // namespace
}  // namespace xsigma::profiler::test
