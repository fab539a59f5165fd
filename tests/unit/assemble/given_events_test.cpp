// Events that bring times and place of their own: of backends, clients and devices.
#include <limits>

#include "assembled.h"

namespace xsigma::profiler::test {
namespace {

using libkineto::ActivityType;

GivenEvent event(std::string_view name, int64_t start, int64_t duration, int64_t process = kHandProcess, int64_t thread = 11,
                 ActivityType type = ActivityType::CPU_OP) {
  GivenEvent given;
  given.name = name;
  given.start_ns = kHandRealtime + start;
  given.duration_ns = duration;
  given.process_id = process;
  given.thread_id = thread;
  given.activity_type = static_cast<int32_t>(type);
  return given;
}

TEST(GivenEvents, NestBetweenTheScopesOfTheirThread) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("call", 100);
  main.scope("before", 110, 120);
  main.given(event("delegate", 130, 50), 190);
  main.scope("after", 200, 210);
  main.end("call", 100, 300);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  EXPECT_EQ(trace.row(trace["delegate"]).thread_id, 11);
  EXPECT_EQ(trace.parent("delegate"), "call");
  EXPECT_EQ(trace.start("delegate"), 130);
  EXPECT_EQ(trace.duration("delegate"), 50);
  EXPECT_TRUE(trace["delegate"].event.flags & kEventGiven);
  EXPECT_EQ(trace.totals().rows.size(), 1u);
  EXPECT_EQ(trace.self("call"), 200 - 10 - 50 - 10);
}

TEST(GivenEvents, ThatWouldCrossAScopeGoToARowBeside) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("call", 100);
  main.given(event("from before", 50, 70), 150);        // began before the scope
  main.given(event("into the future", 160, 500), 170);  // ends after it was reported
  main.scope("later", 200, 210);
  main.end("call", 100, 300);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  for (const char* const name : {"from before", "into the future"}) {
    EXPECT_NE(trace.row(trace[name]).thread_id, 11) << name;
    EXPECT_EQ(trace.row(trace[name]).process_id, kHandProcess) << name;
    EXPECT_NE(trace.row(trace[name]).name.find("beside 11"), std::string::npos) << trace.row(trace[name]).name;
  }
  EXPECT_EQ(trace.duration("call"), 200);
  EXPECT_EQ(trace.parent("later"), "call");
  const std::string json = exportText(done);
  EXPECT_TRUE(contains(json, "(main, beside 11)")) << json;
}

TEST(GivenEvents, OfOtherPlacesHaveRowsOfTheirOwn) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  GivenEvent kernel = event("gemm", 100, 50, 0, 7, ActivityType::CONCURRENT_KERNEL);
  kernel.correlation_id = 77;
  kernel.linked_correlation_id = 5;
  kernel.metadata_json = R"("stream": 7, "device": 0, "context": 1, "correlation": 77)";
  main.given(kernel, 500);
  kernel.start_ns += 20;  // crosses the first
  kernel.name = "copy";
  kernel.correlation_id = 78;
  kernel.metadata_json = R"("stream": 7, "device": 0, "context": 1, "correlation": 78)";
  main.given(kernel, 500);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  EXPECT_EQ(trace.row(trace["gemm"]).process_id, 0);
  EXPECT_EQ(trace.row(trace["gemm"]).thread_id, 7);
  EXPECT_NE(trace["copy"].event.row, trace["gemm"].event.row);
  EXPECT_EQ(trace.row(trace["copy"]).process_id, 0);
  EXPECT_EQ(trace["gemm"].event.id, 77u);
  EXPECT_EQ(trace["gemm"].details->linked_id, 5u);
  const std::string json = exportText(done);
  const std::string line = jsonLine(json, "gemm");
  EXPECT_TRUE(contains(line, R"("cat": "kernel")")) << line;
  EXPECT_TRUE(contains(line, R"("pid": 0, "tid": 7, "ts": 3000000.100, "dur": 0.050)")) << line;
  EXPECT_TRUE(contains(line, R"("External id": 5)")) << line;
  EXPECT_TRUE(contains(line, R"("stream": 7, "device": 0, "context": 1, "correlation": 77)")) << line;
  EXPECT_TRUE(contains(json, R"({"ph": "M", "name": "process_name", "ts": 3000000.000, "pid": 0)")) << json;
  EXPECT_EQ(checkerSays(json), "");
}

TEST(GivenEvents, BringFlows) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  GivenEvent launch = event("cudaLaunchKernel", 100, 10, kHandProcess, 11, ActivityType::CUDA_RUNTIME);
  launch.correlation_id = 9;
  launch.flow_id = 9;
  launch.flow_type = 2;
  launch.flow_start = true;
  launch.metadata_json = R"("correlation": 9)";
  main.given(launch, 500);
  GivenEvent kernel = event("gemm", 150, 50, 0, 7, ActivityType::CONCURRENT_KERNEL);
  kernel.correlation_id = 9;
  kernel.flow_id = 9;
  kernel.flow_type = 2;
  kernel.metadata_json = R"("stream": 7, "device": 0, "context": 1, "correlation": 9)";
  main.given(kernel, 500);
  GivenEvent lonely = event("cudaMemset", 120, 5, kHandProcess, 11, ActivityType::CUDA_RUNTIME);
  lonely.flow_id = 10;
  lonely.flow_type = 2;
  lonely.flow_start = true;
  lonely.metadata_json = R"("correlation": 10)";
  main.given(lonely, 500);
  const Capture done = capture.finish(1000);
  const std::string json = exportText(done);
  EXPECT_EQ(countOf(json, "\"cat\": \"ac2g\""), 2u) << "half a flow is no flow";
  EXPECT_TRUE(contains(jsonLine(json, "ac2g", "s"), R"("id": 9, "pid": 4242, "tid": 11, "ts": 3000000.100)")) << json;
  EXPECT_TRUE(contains(jsonLine(json, "ac2g", "f"), R"("id": 9, "pid": 0, "tid": 7, "ts": 3000000.150)")) << json;
  EXPECT_EQ(checkerSays(json), "");
}

TEST(GivenEvents, InstantsStayOnTheirRow) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("call", 100);
  main.given(event("mark", 50, 0, kHandProcess, 11, ActivityType::CPU_INSTANT_EVENT), 150);
  main.end("call", 100, 200);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  EXPECT_EQ(trace["mark"].event.kind, TraceEventKind::instant);
  EXPECT_EQ(trace.row(trace["mark"]).thread_id, 11);
  EXPECT_TRUE(contains(jsonLine(exportText(done), "mark", "i"), "\"ts\": 3000000.050"));
}

TEST(GivenEvents, MetadataThatIsNoJsonIsLeftOut) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  GivenEvent bad = event("bad", 100, 10);
  bad.metadata_json = R"("a": 1}, {"ph": "X")";
  main.given(bad, 200);
  GivenEvent good = event("good", 120, 10);
  good.metadata_json = R"("a": {"b": [1, 2]})";
  main.given(good, 200);
  const std::string json = exportText(capture.finish(1000));
  EXPECT_FALSE(contains(jsonLine(json, "bad"), "\"a\"")) << json;
  EXPECT_TRUE(contains(jsonLine(json, "good"), R"("a": {"b": [1, 2]})")) << json;
  EXPECT_EQ(checkerSays(json, "--foreign"), "");
}

TEST(GivenEvents, MetadataThatRepeatsAKeyDoesNotMakeTheJsonAmbiguous) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  GivenEvent twice = event("twice", 100, 10);
  twice.metadata_json = R"("a": 1, "a": 2)";
  main.given(twice, 200);
  GivenEvent ours = event("ours", 120, 10);
  ours.metadata_json = R"("Ev Idx": 7, "Record function id": 8, "External id": 9)";
  main.given(ours, 200);
  EXPECT_EQ(checkerSays(exportText(capture.finish(1000)), "--foreign"), "");
}

TEST(GivenEvents, TimesAndPlacesOfAnySizeGiveATraceThatCanBeRead) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  for (const int64_t start : {kLeast, int64_t{-1}, int64_t{0}, kMost}) {
    for (const int64_t duration : {kLeast, int64_t{-1}, int64_t{0}, kMost}) {
      GivenEvent given = event("extreme", 0, duration, kHandProcess, 99);
      given.start_ns = start;
      main.given(given, 500);
    }
  }
  for (const int64_t place : {kLeast, kLeast + 1, int64_t{-1}, int64_t{1} << 32, kMost}) {
    main.given(event("far process", 100, 10, place, 5), 500);
    main.given(event("far thread", 100, 10, 6, place), 500);
  }
  const std::string json = exportText(capture.finish(1000));
  EXPECT_EQ(countOf(json, "\"extreme\""), 16u);
  EXPECT_EQ(checkerSays(json, "--foreign"), "");
}

TEST(GivenEvents, PlacesThatLookAlikeToReadersDoNotShareARow) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  // Readers take 32 bits without a sign: these four would be one row.
  main.given(event("a", 100, 100, kHandProcess, 5), 500);
  main.given(event("b", 150, 100, kHandProcess, -5), 500);
  main.given(event("c", 160, 100, kHandProcess, (int64_t{1} << 32) + 5), 500);
  main.given(event("d", 170, 100, kHandProcess, (int64_t{3} << 32) + 5), 500);
  EXPECT_EQ(checkerSays(exportText(capture.finish(1000)), "--foreign"), "");
}

}  // namespace
}  // namespace xsigma::profiler::test
