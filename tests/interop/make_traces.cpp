// Records itself twice, as two ranks of a job, and writes the traces that other programs are tried with: make_traces FOLDER
#include <xsigma/profiler/profiler.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace xsigma::profiler;

namespace {

volatile double sink = 0;

void busy(int rounds) {
  for (int i = 0; i < rounds; ++i) sink = sink + i;
}

void deep(int levels) {
  XSIGMA_PROFILE_FUNCTION();
  busy(20);
  if (levels > 1) deep(levels - 1);
}

void multiply(uint64_t sequence_number) {
  const int64_t left[] = {64, 32};
  const int64_t right[] = {32, 16};
  const int64_t strides[] = {32, 1};
  const TensorInfo a{&left, left, strides, 2, "float", {}};
  const TensorInfo b{&right, right, nullptr, 2, "float", {}};
  const std::vector<InputValue> list{1, 2, 3};
  XSIGMA_RECORD_FUNCTION("aten::mm", std::vector<InputValue>({a, b, 2.5, "a \"text\"", InputList(list), nullptr}), static_cast<int64_t>(sequence_number));
  busy(200);
}

void backward(uint64_t sequence_number, uint64_t forward_thread) {
  RecordFunction function(RecordScope::BACKWARD_FUNCTION);
  function.setForwardThreadId(forward_thread);
  function.before("MmBackward0", static_cast<int64_t>(sequence_number));
  busy(200);
}

void oddNames() {
  XSIGMA_PROFILE_SCOPE("größe → 日本語 🚀");
  XSIGMA_PROFILE_SCOPE("quote \" backslash \\ slash /");
  XSIGMA_PROFILE_SCOPE_DYNAMIC(std::string_view("tab \t newline \n bell \a"));
  XSIGMA_PROFILE_SCOPE_DYNAMIC(std::string_view("not utf-8: \xff\xc0\xaf"));
  XSIGMA_PROFILE_SCOPE_DYNAMIC(std::string_view(""));
  busy(20);
}

void step(int number) {
  XSIGMA_PROFILE_SCOPE_DYNAMIC("ProfilerStep#" + std::to_string(number));
  const uint64_t forward_thread = RecordFunction::currentThreadId();
  deep(6);
  oddNames();
  const uint64_t first = nextSequenceNr();
  const uint64_t second = nextSequenceNr();
  multiply(first);
  multiply(second);
  char buffer[64];
  reportMemoryUsage(buffer, sizeof buffer, sizeof buffer, 1024);
  recordCounter("loss", 1.0 / (number + 1));
  recordCounter("huge", 1.5e20 * (number + 1));
  recordInstant("halfway");
  recordMetadata("note", "a \"quoted\" text");
  recordMetadata("result", std::to_string(std::numeric_limits<double>::quiet_NaN()));
  recordAsyncBegin("request", static_cast<uint64_t>(number) + 1);
  std::thread worker([&] {
    setThreadName("backward");
    enableProfilerInChildThread();
    backward(second, forward_thread);
    backward(first, forward_thread);
    recordAsyncEnd("request", static_cast<uint64_t>(number) + 1);
    disableProfilerInChildThread();
  });
  worker.join();
  reportMemoryUsage(buffer, -static_cast<int64_t>(sizeof buffer), 0, 1024);
}

void record(int rank, const std::string& path) {
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("WORLD_SIZE", "2", 1);
  setThreadName("main");
  ProfilerConfig config(ProfilerState::KINETO, true, true);
  enableProfiler(config, {ActivityType::CPU});
  addMetadataJson("job", R"({"name": "interop", "rank of nothing": 7})");
  for (int number = 0; number < 3; ++number) step(number);
  std::unique_ptr<ProfilerResult> result;
  {
    XSIGMA_PROFILE_SCOPE("still open");
    result = disableProfiler();
  }
  result->save(path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_traces FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  record(0, folder / "rank0.pt.trace.json");
  record(1, folder / "rank1.pt.trace.json.gz");
  return 0;
}
