// Scopes that end out of order, or not at all, or whose begin is gone: they are shown, and nothing else bends.
#include "assembled.h"

namespace xsigma::profiler::test {
namespace {

// Slices of a row nest or are disjoint: of the events themselves, not of what the writer made of them.
void expectRowsNest(const Assembled& trace) {
  const auto end = [](const TraceEvent& event) { return event.start_ns + event.duration_ns; };
  for (const Assembled::Entry& a : trace.entries()) {
    for (const Assembled::Entry& b : trace.entries()) {
      if (a.event.kind != TraceEventKind::slice || b.event.kind != TraceEventKind::slice) continue;
      const bool same_place = trace.row(a).process_id == trace.row(b).process_id && trace.row(a).thread_id == trace.row(b).thread_id;
      EXPECT_FALSE(same_place && a.event.start_ns < b.event.start_ns && b.event.start_ns < end(a.event) && end(a.event) < end(b.event))
          << trace.name(a) << " crosses " << trace.name(b);
    }
  }
}

TEST(Crossing, AScopeThatOutlivesTheOneAroundItBecomesARangeOfItsOwn) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("around", 50);
  main.begin("first", 100);
  main.begin("second", 200);
  main.scope("leaf", 210, 220);
  main.end("first", 100, 300);
  main.end("second", 200, 400);
  main.scope("after", 410, 420);
  main.end("around", 50, 500);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  EXPECT_EQ(trace["second"].event.kind, TraceEventKind::async_slice);
  EXPECT_TRUE(trace["second"].event.flags & kEventOverlaps);
  EXPECT_EQ(trace.start("second"), 200);
  EXPECT_EQ(trace.duration("second"), 200);
  for (const char* const name : {"around", "first", "leaf", "after"}) EXPECT_EQ(trace[name].event.kind, TraceEventKind::slice) << name;
  EXPECT_EQ(trace.duration("first"), 200);
  EXPECT_EQ(trace.duration("leaf"), 10);
  EXPECT_EQ(trace.totals().overlapping, 1u);
  expectRowsNest(trace);

  const std::string json = exportText(done);
  const std::string begin = jsonLine(json, "second", "b");
  const std::string end = jsonLine(json, "second", "e");
  EXPECT_TRUE(contains(begin, "\"ts\": 3000000.200")) << json;
  EXPECT_TRUE(contains(end, "\"ts\": 3000000.400")) << json;
  EXPECT_EQ(jsonLine(json, "second"), "") << "it is a slice as well";
  EXPECT_EQ(checkerSays(json), "");
}

TEST(Crossing, ManyThatEndInTheOrderOfTheirBegins) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  const std::vector<std::string> names = {"a", "b", "c", "d", "e"};
  for (size_t i = 0; i < names.size(); ++i) main.begin(names[i], 100 + i);
  for (size_t i = 0; i < names.size(); ++i) main.end(names[i], 100 + i, 200 + i);
  main.scope("later", 300, 400);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  EXPECT_EQ(trace.entries().size(), 6u);
  EXPECT_EQ(trace["a"].event.kind, TraceEventKind::slice);
  EXPECT_EQ(trace["later"].event.kind, TraceEventKind::slice);
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(trace.start(names[i]), static_cast<int64_t>(100 + i));
    EXPECT_EQ(trace.duration(names[i]), 100);
  }
  EXPECT_EQ(trace.totals().overlapping, 4u);
  EXPECT_EQ(trace.totals().unfinished, 0u);
  expectRowsNest(trace);
  EXPECT_EQ(checkerSays(exportText(done)), "");
}

TEST(Crossing, WhatBeginsInsideAnOutlivingScopeStillNestsOrIsMoved) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("first", 100);
  main.begin("second", 200);
  main.end("first", 100, 300);
  main.scope("inside second", 310, 320);
  main.end("second", 200, 400);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  EXPECT_EQ(trace["inside second"].event.kind, TraceEventKind::slice);
  expectRowsNest(trace);
  EXPECT_EQ(checkerSays(exportText(done)), "");
}

TEST(Unfinished, LastsUntilTheTraceEndsAndSaysSo) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("open", 100);
  main.begin("inner open", 200);
  main.scope("done", 300, 400);
  const Capture done = capture.finish(5000);
  const Assembled trace(done);
  EXPECT_EQ(trace.totals().unfinished, 2u);
  EXPECT_TRUE(trace["open"].event.flags & kEventUnfinished);
  EXPECT_FALSE(trace["done"].event.flags & kEventUnfinished);
  EXPECT_EQ(trace.start("open") + trace.duration("open"), 5000);
  EXPECT_EQ(trace.start("inner open") + trace.duration("inner open"), 5000);
  EXPECT_EQ(trace.parent("inner open"), "open");
  EXPECT_EQ(trace.parent("done"), "inner open");
  const std::string json = exportText(done);
  EXPECT_TRUE(contains(jsonLine(json, "open"), R"("finished": false)")) << json;
  EXPECT_FALSE(contains(jsonLine(json, "done"), "finished")) << json;
  EXPECT_TRUE(contains(json, "\"unfinished\": 2")) << json;
  EXPECT_EQ(checkerSays(json), "");
}

TEST(Unfinished, OfAThreadWhoseNumberAnotherOneGotEndsWithItsThread) {
  HandCapture capture;
  HandThread& first = capture.thread(11, "first");
  first.begin("left open", 100);
  first.scope("last of the first", 200, 300);
  HandThread& second = capture.thread(11, "second");
  second.scope("of the second", 1000, 2000);
  const Capture done = capture.finish(5000);
  const Assembled trace(done);
  EXPECT_EQ(trace.start("left open") + trace.duration("left open"), 300);
  EXPECT_EQ(trace.parent("of the second"), "");
  EXPECT_EQ(trace.totals().unfinished, 1u);
  expectRowsNest(trace);
  EXPECT_EQ(checkerSays(exportText(done)), "");
}

TEST(Unfinished, WithoutAStopTheTraceEndsWithTheLastThingThatHappened) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  HandThread& other = capture.thread(12, "other");
  main.begin("open", 100);
  main.scope("done", 200, 300);
  other.instant("last", 7000);
  const Capture killed = capture.finish(0);
  ASSERT_FALSE(killed.info().closed);
  const Assembled trace(killed);
  EXPECT_EQ(trace.totals().end_ns, kHandRealtime + 7000);
  EXPECT_EQ(trace.start("open") + trace.duration("open"), 7000);
  EXPECT_EQ(checkerSays(exportText(killed)), "");
}

// A ring that has gone round: the first stretches of the thread are gone.
TEST(LostRecords, AnEndWhoseBeginIsGoneStandsAroundWhatCameSince) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("begin lost", 100);
  main.begin("inner begin lost", 200);
  // in the next stretch
  main.scope("whole", kHandWindow + 100, kHandWindow + 200);
  main.end("inner begin lost", 200, kHandWindow + 300);
  main.scope("whole too", kHandWindow + 400, kHandWindow + 500);
  main.end("begin lost", 100, kHandWindow + 600);
  main.scope("after", kHandWindow + 700, kHandWindow + 800);
  std::vector<char> bytes = capture.bytes(2 * kHandWindow);
  loseSegment(bytes, 0, 0);
  const Capture done = HandCapture::open(std::move(bytes));
  const Assembled trace(done);
  EXPECT_EQ(trace.entries().size(), 5u);
  EXPECT_EQ(trace.totals().unmatched, 2u);
  EXPECT_TRUE(trace["begin lost"].event.flags & kEventUnmatched);
  EXPECT_EQ(trace.start("begin lost"), 100);
  EXPECT_EQ(trace.duration("begin lost"), static_cast<int64_t>(kHandWindow + 500));
  EXPECT_EQ(trace["begin lost"].event.kind, TraceEventKind::slice);
  EXPECT_EQ(trace["inner begin lost"].event.kind, TraceEventKind::slice);
  EXPECT_EQ(trace.parent("whole"), "inner begin lost");
  EXPECT_EQ(trace.parent("inner begin lost"), "begin lost");
  EXPECT_EQ(trace.parent("whole too"), "begin lost");
  EXPECT_EQ(trace.parent("after"), "");
  expectRowsNest(trace);
  const std::string json = exportText(done);
  EXPECT_TRUE(contains(jsonLine(json, "begin lost"), R"("begin recorded": false)")) << json;
  EXPECT_FALSE(contains(jsonLine(json, "whole"), "begin recorded")) << json;
}

TEST(LostRecords, EndsWithoutBeginsNestByTheirEndsWhereTheirStartsTie) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("outer", 100);
  main.begin("inner", 100);
  main.end("inner", 100, kHandWindow + 300);
  main.end("outer", 100, kHandWindow + 300);
  std::vector<char> bytes = capture.bytes(2 * kHandWindow);
  loseSegment(bytes, 0, 0);
  const Assembled trace(HandCapture::open(std::move(bytes)));
  EXPECT_EQ(trace.parent("inner"), "outer");
  EXPECT_EQ(trace.parent("outer"), "");
}

TEST(LostRecords, AGapInTheMiddleClosesWhatItSwallowed) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("outer", 100);
  main.begin("end lost", 200);
  main.end("end lost", 200, kHandWindow + 100);  // in the stretch that gets lost
  main.scope("all lost", kHandWindow + 200, kHandWindow + 300);
  main.scope("after the gap", 2 * kHandWindow + 100, 2 * kHandWindow + 200);
  main.end("outer", 100, 2 * kHandWindow + 300);
  main.scope("far after", 2 * kHandWindow + 400, 2 * kHandWindow + 500);
  std::vector<char> bytes = capture.bytes(3 * kHandWindow);
  loseSegment(bytes, 0, 1);
  const Capture done = HandCapture::open(std::move(bytes));
  ASSERT_FALSE(done.damages().empty());
  const Assembled trace(done);
  EXPECT_FALSE(trace.has("all lost"));
  EXPECT_TRUE(trace["end lost"].event.flags & kEventUnfinished);
  EXPECT_EQ(trace.start("end lost"), 200);
  EXPECT_EQ(trace.start("outer"), 100);
  EXPECT_EQ(trace.duration("outer"), static_cast<int64_t>(2 * kHandWindow + 200));
  EXPECT_EQ(trace.duration("after the gap"), 100);
  EXPECT_EQ(trace["far after"].event.depth, 0);
  EXPECT_EQ(trace["outer"].event.kind, TraceEventKind::slice);
  EXPECT_EQ(trace.totals().unfinished, 1u);
  expectRowsNest(trace);
}

TEST(LostRecords, DetailsOfALostBeginDoNotGoToAnotherScope) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.scope("before", 10, 20);
  const capture::OpDetails details{.sequence_number = 77};
  main.begin("lost", kHandWindow + 10, details);
  main.scope("plain", 2 * kHandWindow + 10, 2 * kHandWindow + 20);
  std::vector<char> bytes = capture.bytes(3 * kHandWindow);
  loseSegment(bytes, 0, 1);
  const Assembled trace(HandCapture::open(std::move(bytes)));
  EXPECT_EQ(trace["plain"].details, nullptr);
}

TEST(LostRecords, WhatARingKeepsIsATrace) {
  HandCapture capture({}, {.policy = CapturePolicy::ring, .byte_cap = 64 * 1024});
  HandThread& main = capture.thread(11, "main");
  main.begin("outermost", 10);
  for (uint64_t i = 0; i < 20'000; ++i) {
    const uint64_t at = 100 + i * 100;
    main.begin("step", at);
    main.scope("leaf", at + 10, at + 20);
    main.end("step", at, at + 50);
  }
  main.end("outermost", 10, 3'000'000);
  const Capture done = capture.finish(4'000'000);
  const Ledger ledger = done.ledger();
  ASSERT_GT(ledger.dropped, 1000u);
  const Assembled trace(done);
  EXPECT_TRUE(trace["outermost"].event.flags & kEventUnmatched);
  EXPECT_EQ(trace["outermost"].event.kind, TraceEventKind::slice);
  EXPECT_EQ(trace.start("outermost"), 10);
  EXPECT_EQ(trace.entries().size(), ledger.recorded);
  for (const Assembled::Entry* const step : trace.all("step")) EXPECT_EQ(trace.parentName(*step), "outermost");
  const std::string json = exportText(done);
  EXPECT_TRUE(contains(json, "\"overwritten\": " + std::to_string(ledger.dropped))) << json.substr(0, 1000);
  EXPECT_EQ(checkerSays(json), "");
}

TEST(LostRecords, LateOnesAreCountedAndNotShown) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.scope("in time", 10, 20);
  capture.freeze();
  main.scope("late", 30, 40);
  main.scope("late", 50, 60);
  const Capture done = capture.finish(25);
  const Assembled trace(done);
  EXPECT_TRUE(trace.has("in time"));
  EXPECT_FALSE(trace.has("late"));
  EXPECT_EQ(done.ledger().causes[static_cast<size_t>(LossCause::late)], 2u);
  EXPECT_TRUE(contains(exportText(done), R"("causes": {"late": 2})"));
}

TEST(LostRecords, ACaptureCutAnywhereIsATraceOfWhatIsThere) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  HandThread& other = capture.thread(12, "other");
  for (uint64_t i = 0; i < 900; ++i) {
    main.begin("outer", 100 + 10 * i);
    main.scope("inner", 101 + 10 * i, 102 + 10 * i);
    main.end("outer", 100 + 10 * i, 105 + 10 * i);
    other.scope("beside", 100 + 10 * i, 109 + 10 * i);
  }
  const std::vector<char> bytes = capture.bytes(100'000);
  const size_t whole = Assembled(HandCapture::open(bytes)).entries().size();
  ASSERT_EQ(whole, 2700u);
  size_t before = 0;
  for (size_t size = capture::kPageBytes; size <= bytes.size(); size += 3001) {
    const Capture cut = HandCapture::open({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
    const Assembled trace(cut);
    EXPECT_GE(trace.entries().size(), before) << "more bytes show less";
    EXPECT_EQ(trace.entries().size(), cut.ledger().recorded);
    EXPECT_EQ(trace.totals().unmatched, 0u);
    before = trace.entries().size();
    if (size % 9 == 0) {
      EXPECT_EQ(checkerSays(exportText(cut)), "") << size;
    }
  }
  EXPECT_GT(before, 1500u);
}

TEST(LostRecords, AThreadWhoseEntryIsDamagedIsShownWithoutItsName) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.scope("here", 10, 20);
  std::vector<char> bytes = capture.bytes(1000);
  const uint32_t head = sizedHead(capture::Code::thread, sizeof(capture::ThreadRecord) / 8);
  size_t damaged = 0;
  for (size_t at = capture::kPageBytes; at + 8 <= bytes.size(); at += 8) {
    uint32_t word;
    std::memcpy(&word, &bytes[at], sizeof word);
    if (word != head) continue;
    bytes[at + 4] ^= 1;
    ++damaged;
  }
  ASSERT_EQ(damaged, 1u);
  const Capture done = HandCapture::open(std::move(bytes));
  const Assembled trace(done);
  EXPECT_EQ(trace.duration("here"), 10);
  EXPECT_NE(trace.row(trace["here"]).name.find("damaged"), std::string::npos);
  EXPECT_TRUE(contains(exportText(done), "its entry in the capture is damaged"));
}

}  // namespace
}  // namespace xsigma::profiler::test
