// Instants, counters, memory, metadata, inputs: what scopes carry, and what stands beside them.
#include <cmath>
#include <limits>

#include "assembled.h"

namespace xsigma::profiler::test {
namespace {

using capture::OpDetails;

TEST(Metadata, BelongsToTheInnermostOpenScope) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("outer", 100);
  main.metadata("who", "outer", 110);
  main.begin("inner", 200);
  main.metadata("who", "first", 210);
  main.metadata("who", "the last one counts", 220);
  main.end("inner", 200, 300);
  main.end("outer", 100, 400);
  const std::string json = exportText(capture.finish(1000));
  EXPECT_TRUE(contains(jsonLine(json, "outer"), R"("who": "outer")")) << json;
  EXPECT_TRUE(contains(jsonLine(json, "inner"), R"("who": "the last one counts")")) << json;
  EXPECT_FALSE(contains(json, "first")) << json;
  EXPECT_EQ(checkerSays(json), "");
}

TEST(Metadata, WithoutAScopeStandsForItself) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.metadata("seed", "42", 100);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  EXPECT_EQ(trace["seed"].event.kind, TraceEventKind::instant);
  EXPECT_EQ(trace.start("seed"), 100);
  EXPECT_TRUE(contains(jsonLine(exportText(done), "seed", "i"), R"("args": {"seed": "42"})")) << exportText(done);
}

TEST(Metadata, KeysThatReadersKnowAreNotOverwritten) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("scope", 100);
  for (const char* const key : {"External id", "Ev Idx", "stream", "finished", "user stream", "Call stack"})
    main.metadata(key, "mine", 110);
  main.end("scope", 100, 200);
  const std::string json = exportText(capture.finish(1000));
  const std::string line = jsonLine(json, "scope");
  EXPECT_TRUE(contains(line, R"("user External id": "mine")")) << line;
  EXPECT_TRUE(contains(line, R"("user user stream": "mine")")) << line;
  EXPECT_EQ(checkerSays(json), "");
}

TEST(Metadata, KeysThatBecomeTheSameTextAreBothKept) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("scope", 100);
  main.metadata("\xff", "one", 110);
  main.metadata("\xfe", "two", 110);
  main.metadata("\xEF\xBF\xBD", "three", 110);
  main.end("scope", 100, 200);
  const std::string json = exportText(capture.finish(1000));
  for (const char* const value : {"\"one\"", "\"two\"", "\"three\""}) EXPECT_TRUE(contains(json, value)) << json;
  EXPECT_EQ(checkerSays(json), "");
}

TEST(Metadata, KeysOfOurOwnArgsAreToldApart) {
  HandCapture capture;
  capture.property("verbose", "true");
  capture.property("performance_events", R"(["cycles", "instructions"])");
  HandThread& main = capture.thread(11, "main");
  const uint32_t site = capture.site("placed", RecordScope::FUNCTION, "file.cpp", 12);
  main.perf({100, 1000}, 100);
  uint32_t* const at = (main.writer().ensure(2, capture.ticks(100)), main.writer().next());
  at[0] = siteHead(capture::Code::begin, site);
  at[1] = main.writer().delta(capture.ticks(100));
  main.writer().commit(2, 1);
  main.metadata("CallFrom", "mine", 110);
  main.metadata("cycles", "mine", 110);
  main.perf({150, 1300}, 200);
  main.writer().putEnd(site, capture.ticks(100), capture.ticks(200));
  const std::string json = exportText(capture.finish(1000));
  const std::string line = jsonLine(json, "placed");
  EXPECT_TRUE(contains(line, R"("cycles": 50)")) << line;
  EXPECT_TRUE(contains(line, R"("instructions": 300)")) << line;
  EXPECT_TRUE(contains(line, R"("CallFrom": "file.cpp:12")")) << line;
  EXPECT_EQ(countOf(line, "\"mine\""), 2u) << line;
  EXPECT_EQ(checkerSays(json), "");
}

TEST(Marks, InstantsAndCountersHaveTheirTimes) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("scope", 100);
  main.instant("now", 150);
  main.end("scope", 100, 200);
  main.counter("loss", 300, 0.25);
  main.counter("loss", 400, 0.125);
  main.counter("huge", 450, 1e20);
  main.counter("broken", 500, std::numeric_limits<double>::quiet_NaN());
  main.counter("endless", 600, -std::numeric_limits<double>::infinity());
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  EXPECT_EQ(trace.start("now"), 150);
  EXPECT_EQ(trace.parent("now"), "scope");
  const std::string json = exportText(done);
  EXPECT_TRUE(contains(json, R"({"ph": "C", "name": "loss", "pid": 4242, "tid": 11, "ts": 3000000.300, "args": {"value": 0.25}})")) << json;
  EXPECT_EQ(countOf(json, "\"ph\": \"C\", \"name\": \"loss\""), 2u);
  EXPECT_TRUE(contains(jsonLine(json, "huge", "C"), "1e+20")) << json;
  EXPECT_TRUE(contains(jsonLine(json, "broken", "i"), R"("value": "NaN")")) << json;
  EXPECT_TRUE(contains(jsonLine(json, "endless", "i"), R"("value": "-Infinity")")) << json;
  EXPECT_EQ(checkerSays(json), "");
}

TEST(Marks, MemoryHasItsNumbersAndTheScopeItWasIn) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  const uint64_t id = main.begin("allocates", 100);
  main.memory(110, 0x7f0000001000, 4096, 10'000, 20'000, {DeviceType::CUDA, 1});
  main.end("allocates", 100, 200);
  main.memory(300, 0xFFFFFFFFFFFFFFFF, -4096, UINT64_MAX, 20'000);
  main.outOfMemory(400, int64_t{1} << 40, 10'000, 20'000);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  EXPECT_EQ(trace.totals().memory_events, 2u);
  const std::string json = exportText(done);
  EXPECT_TRUE(
      contains(json, R"("ts": 3000000.110, "args": {"Total Reserved": 20000, "Total Allocated": 10000, "Bytes": 4096, "Device Id": 1, )"
                     R"("Device Type": 1, "Addr": 139637976731648, "External id": )" +
                         std::to_string(id) + "}"))
      << json;
  EXPECT_TRUE(contains(json, R"("Total Allocated": "18446744073709551615", "Bytes": -4096, "Device Id": -1, "Device Type": 0, )"
                             R"("Addr": "18446744073709551615"})"))
      << json;
  EXPECT_TRUE(contains(jsonLine(json, "[OutOfMemory]", "i"), R"("Bytes": 1099511627776)")) << json;
  EXPECT_EQ(checkerSays(json), "");
}

TEST(Inputs, AreShownAsReadersExpectThem) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  const int64_t sizes[] = {2, 3};
  const int64_t strides[] = {3, 1};
  const TensorInfo tensor{.data = sizes, .sizes = sizes, .strides = strides, .dim = 2, .dtype = "float"};
  const TensorInfo scalar{.data = sizes, .dtype = "long int"};
  const InputValue tensors[] = {tensor, scalar};
  const InputValue numbers[] = {1, 2.5, true};
  const InputValue inputs[] = {tensor, 7, 2.5, "te\"xt", true, nullptr, InputList(tensors), InputList(numbers), InputList()};
  const std::vector<KeywordValue> keywords = {{"alpha", 2},    {"mode", "fast"},     {"ratio", std::nan("")},
                                              {"flag", false}, {"nothing", nullptr}, {"of", tensor}};
  const uint64_t id =
      main.begin("op", 100, OpDetails{.sequence_number = 3, .debug_handle = 4, .inputs = InputList(inputs), .keyword_inputs = &keywords});
  const InputValue out[] = {tensor};
  main.outputs(InputList(out), id, 150);
  main.end("op", 100, 200);
  const std::string json = exportText(capture.finish(1000));
  const std::string line = jsonLine(json, "op");
  for (const char* const part : {
           R"("Sequence number": 3)",
           R"("Fwd thread id": 0)",
           R"("Debug handle": 4)",
           R"("Input Dims": [[2, 3], [], [], [], [], [], [[2, 3], []], [], []])",
           R"("Input Strides": [[3, 1], [], [], [], [], [], [[3, 1], []], [], []])",
           R"("Input type": ["float", "Scalar", "Scalar", "", "Scalar", "", "TensorList", "ScalarList", "ScalarList"])",
           R"("Concrete Inputs": ["", "7", "2.5", "te\"xt", "True", "", "", "[1, 2.5, True]", "[]"])",
           R"("Output Dims": [[2, 3]])",
           R"("alpha": 2, "mode": "fast", "ratio": "NaN", "flag": false, "nothing": "None", "of": [2, 3])",
       }) {
    EXPECT_TRUE(contains(line, part)) << part << "\n" << line;
  }
  EXPECT_EQ(checkerSays(json), "");
}

TEST(Inputs, ThatWereTooLongAreSaidToBeCut) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  const std::vector<InputValue> many(5000, InputValue(1));
  main.scope("op", 100, 200, OpDetails{.inputs = InputList(many)});
  EXPECT_TRUE(contains(jsonLine(exportText(capture.finish(1000)), "op"), R"("Inputs cut": true)"));
}

TEST(Inputs, TextsThatAreNoUtf8AreStillJson) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  const TensorInfo tensor{.dtype = "fl\xff\"oat"};
  const InputValue inputs[] = {"\xff\x01", tensor};
  const std::vector<KeywordValue> keywords = {{"\xff", "\xfe\n"}, {"\xfe", 1}, {"\xff", 2}};
  main.scope("op", 100, 200, OpDetails{.inputs = InputList(inputs), .keyword_inputs = &keywords});
  EXPECT_EQ(checkerSays(exportText(capture.finish(1000))), "");
}

TEST(Properties, StandBeforeTheEvents) {
  HandCapture capture;
  capture.property("distributedInfo", R"({"backend":"nccl","rank":3,"world_size":8})");
  capture.property("run", R"({"id": "a b"})");
  capture.property("process_name", R"("python train.py")");
  capture.thread(11, "main").scope("s", 1, 2);
  const std::string json = exportText(capture.finish(1000));
  EXPECT_TRUE(contains(json, R"("distributedInfo": {"backend": "nccl","rank": 3,"world_size": 8})")) << json;
  EXPECT_TRUE(contains(json, "\n\"run\": {\"id\": \"a b\"},\n")) << json;
  EXPECT_TRUE(contains(json, R"("name": "process_name", "ts": 3000000.000, "pid": 4242, "tid": 0, "args": {"name": "python train.py"})"))
      << json;
  EXPECT_EQ(checkerSays(json), "");
}

TEST(Properties, NeverBreakTheFile) {
  HandCapture capture;
  capture.property("clock", R"("mine")");
  capture.property("xsigmaLedger", R"({"mine": 1})");
  capture.property("traceEvents", "[]");
  capture.property("\xff", "1");
  capture.property("\xfe", "2");
  capture.property("long", "\"" + std::string(70'000, 'x') + "\"");  // longer than a capture keeps: cut, so no JSON any more
  capture.property("none", "");
  capture.property("bad", "{");
  capture.property("process_name", "oops");
  capture.property("distributedInfo", "[1");
  capture.thread(11, "main").scope("s", 1, 2);
  const std::string json = exportText(capture.finish(1000));
  EXPECT_EQ(checkerSays(json), "");
}

TEST(Names, OfAnyBytesAreStrictJson) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "na\"me\n\xff");
  uint64_t at = 10;
  const std::string names[] = {"",         std::string("\0\x01\x1f\x7f", 4), "q\"b\\s/",  "größe 🚀",
                               "\xff\xc3", std::string(65536, 'n'),          "</script>", "\u2028"};
  for (const std::string& name : names) {
    main.scope(name, at, at + 5);
    main.instant(name, at + 6);
    main.counter(name, at + 7, 1);
    main.asyncBegin(name, 1, at);
    main.asyncEnd(name, 1, at + 8);
    at += 10;
  }
  const std::string json = exportText(capture.finish(1000));
  EXPECT_EQ(countOf(json, "größe 🚀"), 5u);
  EXPECT_EQ(countOf(json, std::string(65536, 'n')), 5u);
  EXPECT_EQ(checkerSays(json), "");
}

}  // namespace
}  // namespace xsigma::profiler::test
