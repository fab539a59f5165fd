// Traces byte for byte as they are kept in tests/golden. A change of the format shows there as a diff to be read.
//
// To write them anew:  XSIGMA_TEST_UPDATE_GOLDEN=1 golden_trace_test   (then look at git diff)
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "assembled.h"

namespace xsigma::profiler::test {
namespace {

using capture::OpDetails;
using libkineto::ActivityType;

void expectGolden(const std::string& name, const Capture& capture, const ExportOptions& options = {}) {
  const std::string text = exportText(capture, options, name);
  const std::string path = std::string(XSIGMA_TEST_GOLDEN) + "/" + name;
  if (std::getenv("XSIGMA_TEST_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    GTEST_SKIP() << path << " is written anew";
  }
  EXPECT_EQ(text, fileText(path)) << "see the top of golden_trace_test.cpp for how to write it anew";
  EXPECT_EQ(checkerSays(text, options.numeric_ids_only ? "--numeric-ids" : ""), "");
}

GivenEvent given(std::string_view name, ActivityType type, int64_t start, int64_t duration, int64_t process, int64_t thread) {
  GivenEvent event;
  event.name = name;
  event.activity_type = static_cast<int32_t>(type);
  event.start_ns = kHandRealtime + start;
  event.duration_ns = duration;
  event.process_id = process;
  event.thread_id = thread;
  return event;
}

// Every form of event and every key of args once.
Capture everything() {
  HandCapture capture;
  capture.property("distributedInfo", R"({"backend":"nccl","rank":1,"world_size":4})");
  capture.property("process_name", R"("golden")");
  capture.property("host_name", R"("host")");
  capture.property("performance_events", R"(["cycles", "instructions"])");
  capture.property("verbose", "1");
  HandThread& main = capture.thread(4242, "main", 1);
  HandThread& engine = capture.thread(4243, "engine \"0\"", 2);

  const int64_t sizes[] = {4, 1024};
  const int64_t strides[] = {1024, 1};
  const TensorInfo tensor{.data = sizes, .sizes = sizes, .strides = strides, .dim = 2, .dtype = "float", .device = {DeviceType::CUDA, 0}};
  const InputValue tensors[] = {tensor, tensor};
  const InputValue numbers[] = {1, 2};
  const InputValue inputs[] = {tensor, 1, 0.5, "relu", true, nullptr, InputList(tensors), InputList(numbers)};
  const std::vector<KeywordValue> keywords = {{"alpha", 2},     {"beta", 0.5},    {"mode", "fast"},
                                              {"Ev Idx", true}, {"seen", tensor}, {"none", nullptr}};

  main.begin("ProfilerStep#1", 1'000, {}, RecordScope::USER_SCOPE);
  const uint64_t op = main.begin(
      "aten::addmm", 2'500, OpDetails{.sequence_number = 7, .debug_handle = 12, .inputs = InputList(inputs), .keyword_inputs = &keywords});
  main.metadata("user key", "with \"quotes\" and größe", 2'600);
  main.metadata("stream", "not the device's", 2'700);
  main.memory(3'000, 0x7f0000001000, 4096, 8192, 16384, {DeviceType::CPU, -1});
  const InputValue outputs[] = {tensor};
  main.outputs(InputList(outputs), op, 3'900);
  main.end("aten::addmm", 2'500, 4'001);
  main.memory(4'500, 0x7f0000001000, -4096, 4096, 16384, {DeviceType::CPU, -1});
  main.stack({0x1000, 0x2000}, 5'000);
  main.perf({10, 1000}, 5'000);
  main.begin("counted", 5'000);
  main.perf({110, 1234}, 5'500);
  main.end("counted", 5'000, 5'500);
  main.scope("", 5'600, 5'600);
  main.scope("kernel", 5'700, 5'800);  // the word of another category
  const std::vector<InputValue> many(5000, InputValue(1));
  main.scope("too much", 5'850, 5'900, OpDetails{.inputs = InputList(many)});
  const uint32_t placed = capture.site("placed", RecordScope::FUNCTION, "dir/file.cpp", 42);
  main.writer().ensure(2, capture.ticks(6'000));
  uint32_t* const at = main.writer().next();
  at[0] = siteHead(capture::Code::begin, placed);
  at[1] = main.writer().delta(capture.ticks(6'000));
  main.writer().commit(2, 1);
  main.writer().putEnd(placed, capture.ticks(6'000), capture.ticks(6'250));
  main.instant("an instant", 6'300);
  main.counter("loss", 6'400, 0.125);
  main.counter("large", 6'401, 1e20);
  main.counter("broken", 6'402, std::nan(""));
  main.outOfMemory(6'500, int64_t{1} << 40, 4096, 16384, {DeviceType::CUDA, 0});
  main.given(given("delegate", ActivityType::CPU_OP, 6'600, 100, kHandProcess, 4242), 6'800);
  main.end("ProfilerStep#1", 1'000, 7'000, RecordScope::USER_SCOPE);
  main.metadata("standalone", "text", 7'100);

  main.asyncBegin("request", 5, 7'200);
  engine.asyncEnd("request", 5, 9'000);
  main.begin("moved", 7'300, OpDetails{.id = 900});
  engine.endElsewhere("moved", 900, 7'300, 9'500);
  main.begin("crossing", 7'400);
  main.begin("crossed", 7'500);
  main.end("crossing", 7'400, 7'600);
  main.end("crossed", 7'500, 7'700);
  engine.scope("AddmmBackward0", 8'000, 8'500, OpDetails{.sequence_number = 7, .forward_thread = 1});

  GivenEvent launch = given("cudaLaunchKernel", ActivityType::CUDA_RUNTIME, 2'900, 50, kHandProcess, 99);
  launch.correlation_id = 31;
  launch.linked_correlation_id = op;
  launch.flow_id = 31;
  launch.flow_type = 2;
  launch.flow_start = true;
  launch.metadata_json = R"("cbid": 211, "correlation": 31)";
  main.given(launch, 9'000);
  GivenEvent kernel = given("sgemm", ActivityType::CONCURRENT_KERNEL, 3'100, 700, 0, 7);
  kernel.correlation_id = 31;
  kernel.linked_correlation_id = op;
  kernel.flow_id = 31;
  kernel.flow_type = 2;
  kernel.metadata_json = R"("device": 0, "context": 1, "stream": 7, "correlation": 31, "grid": [1, 2, 3])";
  main.given(kernel, 9'000);
  main.given(given("gpu range", ActivityType::GPU_USER_ANNOTATION, 3'100, 700, 0, 7), 9'000);
  GivenEvent beside = kernel;
  beside.name = "beside";
  beside.start_ns += 100;
  beside.correlation_id = 32;
  beside.flow_id = 0;
  beside.metadata_json = R"("device": 0, "context": 1, "stream": 7, "correlation": 32)";
  main.given(beside, 9'000);
  main.given(given("a mark", ActivityType::CPU_INSTANT_EVENT, 8'800, 0, kHandProcess, 4242), 9'000);

  main.begin("still open", 9'800);
  return capture.finish(10'000);
}

// A capture of which parts are gone.
Capture losses() {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("begin lost", 100);
  main.scope("after the gap", kHandWindow + 100, kHandWindow + 200);
  main.end("begin lost", 100, kHandWindow + 300);
  main.begin("unfinished", kHandWindow + 400);
  main.asyncEnd("no begin", 3, kHandWindow + 500);
  capture.freeze();
  main.scope("late", kHandWindow + 600, kHandWindow + 700);
  std::vector<char> bytes = capture.bytes(kHandWindow + 550);
  loseSegment(bytes, 0, 0);
  return HandCapture::open(std::move(bytes));
}

TEST(GoldenTrace, Everything) { expectGolden("everything.json", everything()); }
TEST(GoldenTrace, EverythingForReadersOfNumbers) { expectGolden("numeric.json", everything(), {.numeric_ids_only = true}); }
TEST(GoldenTrace, Losses) { expectGolden("losses.json", losses()); }
TEST(GoldenTrace, Nothing) { expectGolden("nothing.json", HandCapture().finish(1000)); }

}  // namespace
}  // namespace xsigma::profiler::test
