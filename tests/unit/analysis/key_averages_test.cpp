// Averages of captures written by hand: every nanosecond of every column is known.
#include "xsigma/profiler/key_averages.h"

#include <gtest/gtest.h>

#include "assembled.h"
#include "counted_times.h"
#include "hand_capture.h"
#include "xsigma/profiler/flops.h"
#include "xsigma/profiler/scope.h"

namespace xsigma::profiler {
namespace {

using test::HandCapture;
using test::HandThread;
using test::timesOf;

TEST(KeyAverages, SelfTimeIsWithoutWhatIsInside) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("outer", 100);
  main.begin("inner", 200);
  main.scope("leaf", 250, 300);
  main.end("inner", 200, 500);
  main.scope("inner", 600, 900);
  main.end("outer", 100, 1100);
  const KeyAverages averages = keyAverages(capture.finish(2000));
  ASSERT_EQ(averages.rows().size(), 3u);
  EXPECT_EQ(timesOf(averages, "outer"), "calls 1 self 400 total 1000 mean 1000");
  EXPECT_EQ(timesOf(averages, "inner"), "calls 2 self 550 total 600 mean 300");
  EXPECT_EQ(timesOf(averages, "leaf"), "calls 1 self 50 total 50 mean 50");
  EXPECT_EQ(averages.selfCpuTotalNs(), 1000);
  EXPECT_EQ(averages.wallNs(), 2000);
  EXPECT_EQ(averages.threads(), 1u);
  EXPECT_TRUE(averages.at("outer").is_top_level);
  EXPECT_FALSE(averages.at("inner").is_top_level);
}

TEST(KeyAverages, AScopeThatCallsItselfIsCountedOnce) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("f", 1000);
  main.begin("f", 1100);
  main.scope("f", 1200, 1400);
  main.end("f", 1100, 1700);
  main.scope("g", 1750, 1850);
  main.end("f", 1000, 2000);
  main.scope("f", 2500, 2600);
  const KeyAverages averages = keyAverages(capture.finish(3000));
  EXPECT_EQ(timesOf(averages, "f"), "calls 4 self 1000 total 1100 mean 475");
  EXPECT_EQ(averages.at("f").durations.median, 400);  // of 100, 200, 600, 1000
  EXPECT_EQ(averages.selfCpuTotalNs(), 1100);
}

TEST(KeyAverages, ScopesThatCallEachOtherAreCountedOnceEach) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("a", 0);
  main.begin("b", 100);
  main.begin("a", 200);
  main.scope("b", 300, 400);
  main.end("a", 200, 600);
  main.end("b", 100, 700);
  main.end("a", 0, 1000);
  const KeyAverages averages = keyAverages(capture.finish(1000));
  EXPECT_EQ(timesOf(averages, "a"), "calls 2 self 700 total 1000 mean 700");
  EXPECT_EQ(timesOf(averages, "b"), "calls 2 self 300 total 600 mean 350");
}

TEST(KeyAverages, ThreadsAddUp) {
  HandCapture capture;
  for (int i = 0; i < 3; ++i) {
    HandThread& worker = capture.thread(20 + i, "worker");
    worker.begin("work", 100);
    worker.scope("part", 200, 300 + static_cast<uint64_t>(i) * 100);
    worker.end("work", 100, 1100);
  }
  const Capture done = capture.finish(1200);
  const KeyAverages averages = keyAverages(done);
  EXPECT_EQ(timesOf(averages, "work"), "calls 3 self 2400 total 3000 mean 1000");
  EXPECT_EQ(timesOf(averages, "part"), "calls 3 self 600 total 600 mean 200");
  EXPECT_EQ(averages.threads(), 3u);

  const KeyAverages by_thread = keyAverages(done, {false, 0, true});
  ASSERT_EQ(by_thread.rows().size(), 6u);
  EXPECT_EQ(by_thread.rows()[0].thread, "worker (20)");
  std::vector<int64_t> parts;
  for (const KeyAverage& row : by_thread.rows()) {
    if (row.name == "part") parts.push_back(row.self_cpu_ns);
  }
  EXPECT_EQ(parts, (std::vector<int64_t>{100, 200, 300}));
}

TEST(KeyAverages, AScopeWithoutAnEndCountsUntilTheEndOfTheRecording) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("left open", 100);
  main.scope("whole", 300, 400);
  const KeyAverages averages = keyAverages(capture.finish(1000));
  EXPECT_EQ(timesOf(averages, "left open"), "calls 1 self 800 total 900 mean 900");
  EXPECT_EQ(averages.at("left open").unfinished, 1u);
  EXPECT_EQ(averages.at("whole").unfinished, 0u);
  EXPECT_EQ(averages.unfinished(), 1u);
  EXPECT_NE(averages.table().find("1 scopes have no end"), std::string::npos);
}

TEST(KeyAverages, ManyCallsAreCountedOnSeveralThreadsAlike) {
  Recording recording = *startRecording();
  for (int i = 0; i < 550'000; ++i) {
    XSIGMA_PROFILE_SCOPE("outer");
    XSIGMA_PROFILE_SCOPE("inner");
  }
  const KeyAverages averages = keyAverages(recording.stop());
  ASSERT_EQ(averages.rows().size(), 2u);
  for (const KeyAverage& row : averages.rows()) {
    EXPECT_EQ(row.calls, 550'000u);
    EXPECT_NEAR(row.durations.mean * 550'000, static_cast<double>(row.cpu_total_ns), 1e-6 * static_cast<double>(row.cpu_total_ns));
    EXPECT_LE(static_cast<double>(row.durations.min), row.durations.median);
    EXPECT_LE(row.durations.median, row.durations.p95);
    EXPECT_LE(row.durations.p95, row.durations.p99);
    EXPECT_LE(row.durations.p99, static_cast<double>(row.durations.max));
  }
}

TEST(KeyAverages, OneNameFromTwoPlacesIsOneRowAndTheStepsAreOne) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  const auto at = [&](const char* file, uint64_t begin, uint64_t end) {
    capture.site("same", RecordScope::FUNCTION, file, 7);
    main.scope("same", begin, end);
  };
  at("a.cpp", 0, 10);
  at("b.cpp", 20, 30);
  main.begin("same", 40, {}, RecordScope::USER_SCOPE);
  main.end("same", 40, 45, RecordScope::USER_SCOPE);
  main.scope("ProfilerStep#1", 50, 60);
  main.scope("ProfilerStep#2", 60, 75);
  const KeyAverages averages = keyAverages(capture.finish(100));
  ASSERT_EQ(averages.rows().size(), 3u);
  EXPECT_EQ(timesOf(averages, "same"), "calls 2 self 20 total 20 mean 10");
  EXPECT_TRUE(averages.rows()[1].is_user_annotation);
  EXPECT_EQ(averages.rows()[1].self_cpu_ns, 5);
  EXPECT_EQ(timesOf(averages, "ProfilerStep*"), "calls 2 self 25 total 25 mean 12");
}

TEST(KeyAverages, MemoryBelongsToTheScopeOfItsThread) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  HandThread& other = capture.thread(12, "other");
  main.memory(10, 0x1, 7, 7, 7);  // no scope is open
  main.begin("outer", 100);
  main.memory(110, 0x10, 1000, 1007, 2000);
  main.begin("inner", 200);
  main.memory(210, 0x20, 500, 1507, 2000);
  main.begin("inner", 220);  // calls itself: counted once in its total
  main.memory(230, 0x30, 30, 1537, 2000);
  main.memory(235, 0x40, 64, 64, 64, {DeviceType::CUDA, 0});
  main.end("inner", 220, 240);
  main.end("inner", 200, 300);
  main.memory(400, 0x20, -500, 1037, 2000);
  main.end("outer", 100, 1000);
  other.begin("elsewhere", 205);  // at the same time on another thread
  other.memory(215, 0x50, 9, 1516, 2000);
  other.end("elsewhere", 205, 600);
  const KeyAverages averages = keyAverages(capture.finish(2000));
  const auto bytes = [&](std::string_view name) {
    const KeyAverage& row = averages.at(name);
    return std::to_string(row.self_cpu_bytes) + " " + std::to_string(row.cpu_bytes) + " " + std::to_string(row.self_device_bytes) + " " +
           std::to_string(row.device_bytes);
  };
  EXPECT_EQ(bytes("outer"), "500 1030 0 64");
  EXPECT_EQ(bytes("inner"), "530 530 64 64");
  EXPECT_EQ(bytes("elsewhere"), "9 9 0 0");
  EXPECT_EQ(bytes("[memory]"), "7 7 0 0");
}

capture::OpDetails withInputs(const std::vector<InputValue>& inputs) {
  capture::OpDetails details;
  details.inputs = InputList(inputs);
  return details;
}

TEST(KeyAverages, RowsByShapeAndTheirFlops) {
  const int64_t small[] = {2, 3};
  const int64_t large[] = {3, 5};
  const TensorInfo a{nullptr, small, nullptr, 2, "float", {}};
  const TensorInfo b{nullptr, large, nullptr, 2, "float", {}};
  HandCapture capture;
  capture.property("with_flops", "1");
  HandThread& main = capture.thread(11, "main");
  const std::vector<InputValue> product{a, b};
  const std::vector<InputValue> sum{a, a, 1};
  main.scope("mm", 0, 10, withInputs(product));
  main.scope("mm", 20, 40, withInputs(product));
  main.scope("add", 50, 60, withInputs(sum));
  main.scope("mm", 70, 75);
  const Capture done = capture.finish(100);
  const KeyAverages averages = keyAverages(done);
  EXPECT_EQ(averages.at("mm").flops, 120u);  // 2 calls of 2·2·3·5; the third has no shapes
  EXPECT_EQ(averages.at("mm").calls, 3u);
  EXPECT_EQ(averages.at("add").flops, 6u);
  const KeyAverages by_shape = keyAverages(done, {true, 0, false});
  ASSERT_EQ(by_shape.rows().size(), 3u);
  EXPECT_EQ(by_shape.rows()[0].input_shapes, "[[2, 3], [3, 5]]");
  EXPECT_EQ(by_shape.rows()[0].calls, 2u);
  EXPECT_EQ(by_shape.rows()[1].input_shapes, "[[2, 3], [2, 3], []]");
  EXPECT_EQ(by_shape.rows()[2].input_shapes, "");
}

TEST(KeyAverages, FlopsAreLeftOutUnlessAskedFor) {
  const int64_t small[] = {2, 3};
  const TensorInfo a{nullptr, small, nullptr, 2, "float", {}};
  const std::vector<InputValue> inputs{a, a};
  HandCapture session;
  session.property("record_shapes", "1");
  session.thread(11, "main").scope("add", 0, 10, withInputs(inputs));
  EXPECT_EQ(keyAverages(session.finish(20)).at("add").flops, 0u);
  HandCapture by_hand;  // nobody could ask
  by_hand.thread(11, "main").scope("add", 0, 10, withInputs(inputs));
  EXPECT_EQ(keyAverages(by_hand.finish(20)).at("add").flops, 6u);
}

TEST(KeyAverages, RowsByTheScopesAround) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  for (const char* const caller : {"parse", "solve"}) {
    const uint64_t at = caller[0] == 'p' ? 0 : 100;
    main.begin("main loop", at);
    main.begin(caller, at + 10);
    main.scope("copy", at + 20, at + 30);
    main.end(caller, at + 10, at + 40);
    main.end("main loop", at, at + 50);
  }
  const Capture done = capture.finish(200);
  const KeyAverages one = keyAverages(done, {false, 1, false});
  std::vector<std::vector<std::string>> stacks;
  for (const KeyAverage& row : one.rows()) {
    if (row.name == "copy") stacks.push_back(row.stack);
  }
  EXPECT_EQ(stacks, (std::vector<std::vector<std::string>>{{"parse"}, {"solve"}}));
  const KeyAverages two = keyAverages(done, {false, 2, false});
  EXPECT_EQ(two.at("copy").stack, (std::vector<std::string>{"parse", "main loop"}));
}

TEST(KeyAverages, OfSeveralRecordingsAddUp) {
  const auto recorded = [](uint64_t first) {
    HandCapture capture;
    HandThread& main = capture.thread(11, "main");
    main.scope("work", first, first + 100);
    main.asyncBegin("request", 1, first);
    main.asyncEnd("request", 1, first + 300);
    return capture.finish(1000);
  };
  const KeyAverages averages = keyAverages(std::vector<Capture>{recorded(0), recorded(50)});
  EXPECT_EQ(timesOf(averages, "work"), "calls 2 self 200 total 200 mean 100");
  EXPECT_EQ(averages.at("request").cpu_total_ns, 600);  // each recording has its own time
  EXPECT_EQ(averages.wallNs(), 2000);
  EXPECT_EQ(averages.threads(), 1u);
}

TEST(KeyAverages, OfNothingAreEmptyAndSaySo) {
  HandCapture capture;
  const KeyAverages averages = keyAverages(capture.finish(100));
  EXPECT_TRUE(averages.rows().empty());
  EXPECT_NE(averages.table().find("Self CPU time total: 0.000us"), std::string::npos);
  EXPECT_THROW(averages.at("anything"), ProfilerError);
  EXPECT_TRUE(KeyAverages().rows().empty());
}

TEST(FlopsRegistry, TakesFormulasOfUsers) {
  const std::vector<RecordedInput> inputs(3);
  EXPECT_EQ(flopsOf("my_op", inputs), 0u);
  registerFlops("aten::my_op", [](const std::vector<RecordedInput>& given) { return given.size() * 7; });
  EXPECT_EQ(flopsOf("my_op", inputs), 21u);
  EXPECT_EQ(flopsOf("aten::my_op", inputs), 21u);
  registerFlops("my_op", [](const std::vector<RecordedInput>&) -> uint64_t { throw std::runtime_error("no shapes"); });
  EXPECT_EQ(flopsOf("my_op", inputs), 0u);
  registerFlops("my_op", {});
  EXPECT_EQ(flopsOf("my_op", inputs), 0u);
}

}  // namespace
}  // namespace xsigma::profiler
