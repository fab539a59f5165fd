// Reading a trace: the same events whatever the number of threads, in whatever format, up to a deadline.
#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "assembled.h"

namespace xsigma::profiler::test {
namespace {

// Several threads of different length, with something of everything, more than a batch each.
Capture busyCapture() {
  HandCapture capture({}, {.policy = CapturePolicy::unbounded});
  for (int thread = 0; thread < 20; ++thread) {
    HandThread& on = capture.thread(100 + thread, "thread " + std::to_string(thread));
    const int steps = thread % 3 == 0 ? 6000 : 50 * thread;
    for (int i = 0; i < steps; ++i) {
      const uint64_t at = static_cast<uint64_t>(i) * 100 + 1;
      on.begin("step", at);
      on.scope("leaf", at + 10, at + 20, capture::OpDetails{.sequence_number = i});
      if (i % 7 == 0) on.metadata("i", std::to_string(i), at + 30);
      if (i % 11 == 0) on.counter("count", at + 31, i);
      if (i % 13 == 0) on.memory(at + 32, 0x1000, 64, 64, 128);
      on.end("step", at, at + 50);
      if (i % 17 == 0) on.asyncBegin("range", static_cast<uint64_t>(i), at + 60);
      if (i % 17 == 5) on.asyncEnd("range", static_cast<uint64_t>(i - 5), at + 60);
    }
    on.begin("open", 10'000'000);
  }
  return capture.finish(20'000'000);
}

TEST(Visit, WritesTheSameBytesWhateverTheNumberOfThreads) {
  const Capture capture = busyCapture();
  const std::string alone = exportText(capture, {.workers = 1});
  EXPECT_GT(alone.size(), 1'000'000u);
  for (const unsigned workers : {2u, 3u, 8u, 0u}) EXPECT_TRUE(exportText(capture, {.workers = workers}) == alone) << workers << " workers";
  EXPECT_EQ(checkerSays(alone), "");
}

TEST(Visit, SavingAgainToOtherFormatsGivesTheSameEvents) {
  const Capture capture = busyCapture();
  const std::string json = exportText(capture);
  const std::string zipped = exportPath("again.json.gz");
  const std::string again = exportPath("again.xst");
  const std::string plain = exportPath("trace.json");
  ASSERT_TRUE(exportCapture(capture, zipped).ok());
  ASSERT_TRUE(exportCapture(capture, again).ok());
  ASSERT_EQ(std::system(("gzip -dc " + zipped + " > " + plain).c_str()), 0);
  std::string text = fileText(plain);
  ASSERT_NE(text.rfind(zipped), std::string::npos);
  text.replace(text.rfind(zipped), zipped.size(), "trace.json");
  EXPECT_TRUE(text == json);
  EXPECT_TRUE(exportText(openCapture(again).value()) == json);
  for (const std::string& path : {zipped, again, plain}) unlink(path.c_str());
}

TEST(Visit, ReportsWhatWentIntoTheFile) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.scope("one", 10, 20);
  main.instant("two", 30);
  main.begin("three", 40);
  main.asyncEnd("none", 1, 50);
  const std::string path = exportPath("report.json");
  const Expected<ExportReport> report = exportCapture(capture.finish(1000), path);
  ASSERT_TRUE(report.ok()) << report.message();
  EXPECT_EQ(report->events, 3u);
  EXPECT_EQ(report->unfinished, 1u);
  EXPECT_EQ(report->unmatched, 1u);
  EXPECT_TRUE(report->complete);
  EXPECT_EQ(report->bytes, fileText(path).size());
  unlink(path.c_str());
}

TEST(Visit, ADeadlineGivesAPartThatSaysSo) {
  const Capture capture = busyCapture();
  const std::string path = exportPath("deadline.json");
  const Expected<ExportReport> report = exportCapture(capture, path, {.workers = 2, .deadline = std::chrono::nanoseconds(1)});
  ASSERT_TRUE(report.ok()) << report.message();
  EXPECT_FALSE(report->complete);
  const std::string json = fileText(path);
  unlink(path.c_str());
  EXPECT_TRUE(contains(json, R"("complete": false)"));
  EXPECT_LT(countOf(json, "\n{\"ph\": "), 1000u);
  EXPECT_EQ(checkerSays(json), "");
}

TEST(Visit, ADeadlineInTheMiddleKeepsWhatWasReadUntilThen) {
  const Capture capture = busyCapture();
  const std::shared_ptr<const Trace> trace = assembleTrace(capture);
  size_t seen = 0;
  const TraceTotals totals = trace->forEachBatch(
      [&](EventBatch& batch) {
        if (seen == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        seen += batch.events.size();
      },
      std::chrono::milliseconds(200));
  EXPECT_FALSE(totals.complete);
  EXPECT_GT(seen, 1000u);
  EXPECT_EQ(totals.events, seen);
}

TEST(Visit, ALongDeadlineIsNone) {
  const Capture capture = busyCapture();
  for (const std::chrono::nanoseconds deadline : {std::chrono::nanoseconds(std::chrono::hours(1)), std::chrono::nanoseconds::max()}) {
    const std::string path = exportPath("long.json");
    const Expected<ExportReport> report = exportCapture(capture, path, {.deadline = deadline});
    unlink(path.c_str());
    EXPECT_TRUE(report->complete) << deadline.count();
  }
}

TEST(Visit, TheVisitorMayHaveEnough) {
  struct Two final : TraceVisitor {
    void start(unsigned, size_t) override {}
    void prepare(unsigned, size_t, EventBatch&) override {}
    bool accept(size_t) override { return ++accepted < 2; }
    int accepted = 0;
  };
  for (const unsigned workers : {1u, 4u}) {
    Two visitor;
    const TraceTotals totals = assembleTrace(busyCapture())->visit(visitor, {workers, {}});
    EXPECT_EQ(visitor.accepted, 2);
    EXPECT_FALSE(totals.complete);
  }
}

TEST(Visit, BatchesMayBeKept) {
  const Capture capture = busyCapture();
  std::vector<EventBatch> kept;
  const std::shared_ptr<const Trace> trace = assembleTrace(capture);
  trace->forEachBatch([&](EventBatch& batch) {
    EventBatch mine;
    mine.events = batch.events;
    mine.all_details = std::move(batch.all_details);
    mine.memory = batch.memory;
    kept.push_back(std::move(mine));
  });
  size_t metadata = 0;
  for (const EventBatch& batch : kept) {
    for (const TraceEvent& event : batch.events) {
      const EventDetails* const details = batch.details(event);
      for (uint32_t i = 0; details != nullptr && i < details->metadata_count; ++i) {
        ASSERT_EQ(trace->name(details->metadata[i].key).text, "i");
        ASSERT_EQ(std::to_string((event.start_ns - kHandRealtime - 1) / 100), details->metadata[i].text);
        ++metadata;
      }
    }
  }
  EXPECT_GT(metadata, 3000u);
}

TEST(Visit, EveryEventComesOnce) {
  const Capture capture = busyCapture();
  std::set<std::pair<uint32_t, uint64_t>> ids;
  size_t scopes = 0;
  int unfinished = 0;
  assembleTrace(capture)->forEachBatch([&](EventBatch& batch) {
    for (const TraceEvent& event : batch.events) {
      if (event.kind != TraceEventKind::slice) continue;
      ++scopes;
      unfinished += event.flags & kEventUnfinished;
      ids.insert({event.row, event.ordinal});
    }
  });
  EXPECT_EQ(scopes, capture.ledger().recorded);
  EXPECT_EQ(ids.size(), scopes);
  EXPECT_EQ(unfinished, 20);
}

}  // namespace
}  // namespace xsigma::profiler::test
