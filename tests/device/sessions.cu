// Sessions one after the other while the device is never idle: what begins and ends must lose nothing, break nothing, and leave nothing behind.
//
//     sessions [--rounds N] [--only start|pending|toggled|memory|nodes|graphs|load|kept_out]
#include <execinfo.h>
#include <unistd.h>
#include <xsigma/profiler/profiler.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cuda_checks.h"

extern "C" {
__global__ void session_kernel() {}
__global__ void waiting_kernel(volatile int* go) {
  while (*go == 0) {
  }
}
}

namespace device_tests {
namespace {

using namespace xsigma::profiler;
using Clock = std::chrono::steady_clock;

int failures = 0;

// A debugger would take the device's profiling interface away.
void sayWhere(int signal) {
  void* frames[40];
  std::fprintf(stderr, "signal %d\n", signal);
  backtrace_symbols_fd(frames, backtrace(frames, 40), 2);
  _exit(128 + signal);
}

void check(bool ok, const std::string& what) {
  std::printf("%-6s %s\n", ok ? "ok" : "FAILED", what.c_str());
  failures += !ok;
}

const std::set<ActivityType> kBoth{ActivityType::CPU, ActivityType::CUDA};

double msSince(Clock::time_point begun) { return std::chrono::duration<double, std::milli>(Clock::now() - begun).count(); }

// Eight threads that launch and wait without a pause, until it is gone.
class Load {
 public:
  static constexpr int kThreads = 8;
  Load() {
    for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { launchOn(); });
    while (launched < 1000 * kThreads) std::this_thread::yield();
  }
  ~Load() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  std::atomic<uint64_t> launched{0};
  std::atomic<double> longest_ms{0};  // that fifty launches and their wait took

 private:
  void launchOn() {
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    while (!over_) {
      const Clock::time_point begun = Clock::now();
      for (int n = 0; n < 50; ++n) session_kernel<<<1, 32, 0, stream>>>();
      CUDA_OK(cudaStreamSynchronize(stream));
      launched += 50;
      const double took = msSince(begun);
      for (double longest = longest_ms; took > longest && !longest_ms.compare_exchange_weak(longest, took);) {
      }
    }
    CUDA_OK(cudaStreamDestroy(stream));
  }
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

bool recordsDevice(const ProfilerResult& result, std::string& why) {
  for (const CaptureProperty& property : result.capture().properties()) {
    if (property.key == "xsigmaDevices") why = property.json;
  }
  return why.find("\"recorded\": true") != std::string::npos;
}

// Sessions begin and end while eight threads launch.
void underLoad(int rounds) {
  prepareProfiler(ProfilerConfig(ProfilerState::KINETO), kBoth);
  Load load;
  uint64_t kernels = 0;
  uint64_t dropped = 0;
  uint64_t pending = 0;
  int empty = 0;
  double start_ms = 0;
  double stop_ms = 0;
  double rest_ms = 0;
  for (int round = 0; round < rounds; ++round) {
    ProfilerConfig config(ProfilerState::KINETO);
    config.experimental_config.profile_all_threads = true;
    Clock::time_point asked = Clock::now();
    enableProfiler(config, kBoth);
    start_ms = std::max(start_ms, msSince(asked));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    asked = Clock::now();
    const auto result = disableProfiler();
    stop_ms = std::max(stop_ms, msSince(asked));
    asked = Clock::now();
    const DeviceLedger ledger = result->ledger().device;
    rest_ms = std::max(rest_ms, msSince(asked));
    kernels += ledger.kernels;
    dropped += ledger.dropped;
    empty += ledger.kernels == 0;
    pending += ledger.pending;
  }
  check(empty == 0, std::to_string(rounds) + " sessions beside " + std::to_string(Load::kThreads) + " launching threads recorded " +
                        std::to_string(kernels) + " of " + std::to_string(load.launched.load()) +
                        " kernels; empty ones: " + std::to_string(empty));
  check(dropped == 0 && pending <= static_cast<uint64_t>(rounds) * Load::kThreads * 50,
        "dropped: " + std::to_string(dropped) + ", pending: " + std::to_string(pending));
  check(start_ms < 1000 && stop_ms < 1000 && rest_ms < 2000, "starting took at most " + std::to_string(start_ms) + " ms, stopping " +
                                                                 std::to_string(stop_ms) + " ms; the rest was there after " +
                                                                 std::to_string(rest_ms) + " ms");
  check(load.longest_ms < 1000, "fifty launches took at most " + std::to_string(load.longest_ms) + " ms");
  // CUPTI leaves the process in here, while the others go on.
  load.longest_ms = 0;
  const Clock::time_point asked = Clock::now();
  CUDA_OK(cudaDeviceSynchronize());
  const double wait_ms = msSince(asked);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  check(wait_ms < 1000 && load.longest_ms < 1000, "waiting for the device, once, took " + std::to_string(wait_ms) +
                                                      " ms, fifty launches at most " + std::to_string(load.longest_ms) + " ms");
}

// A session that nobody has prepared for, beside threads which never pause: with the device or without, it begins soon, and says which.
void keptOut() {
  CUDA_OK(cudaDeviceSynchronize());  // CUPTI is out of the process
  std::string why;
  bool recorded = false;
  double start_ms = 0;
  {
    Load load;
    const Clock::time_point asked = Clock::now();
    enableProfiler(ProfilerConfig(ProfilerState::KINETO), kBoth);
    start_ms = msSince(asked);
    recorded = recordsDevice(*disableProfiler(), why);
  }
  check(start_ms < 5000, "unprepared, beside threads that never pause, a session began after " + std::to_string(start_ms) + " ms: " + why);
  check(recorded || why.find("prepareProfiler") != std::string::npos, "it has the device, or says what to do");
  enableProfiler(ProfilerConfig(ProfilerState::KINETO), kBoth);
  session_kernel<<<1, 32>>>();
  CUDA_OK(cudaDeviceSynchronize());
  const auto result = disableProfiler();
  check(result->ledger().device.kernels == 1, "the next session has the device");
}

// A session ends while a kernel runs.
void pending() {
  int* go = nullptr;
  CUDA_OK(cudaHostAlloc(&go, sizeof *go, cudaHostAllocMapped));
  *go = 0;
  enableProfiler(ProfilerConfig(ProfilerState::KINETO), kBoth);
  session_kernel<<<1, 32>>>();
  CUDA_OK(cudaDeviceSynchronize());
  waiting_kernel<<<1, 1>>>(go);
  const Clock::time_point begun = Clock::now();
  const auto result = disableProfiler();
  const double stop_ms = std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
  const Clock::time_point read = Clock::now();
  const DeviceLedger ledger = result->ledger().device;
  const double drain_ms = std::chrono::duration<double, std::milli>(Clock::now() - read).count();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Clock::time_point asked = Clock::now();
  check(cudaStreamQuery(nullptr) == cudaErrorNotReady, "the kernel still runs");
  const double query_ms = std::chrono::duration<double, std::milli>(Clock::now() - asked).count();
  *go = 1;
  CUDA_OK(cudaDeviceSynchronize());
  check(drain_ms < 1000, "the rest was there after " + std::to_string(drain_ms) + " ms");
  check(query_ms < 20, "a call into CUDA meanwhile took " + std::to_string(query_ms) + " ms");
  check(stop_ms < 100, "stopping with a kernel that runs took " + std::to_string(stop_ms) + " ms");
  const bool named = ledger.pending_names.size() == 1 && ledger.pending_names[0].first.find("waiting_kernel") != std::string::npos;
  check(ledger.kernels == 1 && ledger.pending == 1 && named,
        "launched " + std::to_string(ledger.launched) + " = " + std::to_string(ledger.kernels) + " recorded + " +
            std::to_string(ledger.pending) + " pending (" + (named ? ledger.pending_names[0].first : "not named") + ")");
  CUDA_OK(cudaFreeHost(go));
}

size_t kernelsOf(const ProfilerResult& result) { return result.ledger().device.kernels; }

void toggled() {
  enableProfiler(ProfilerConfig(ProfilerState::KINETO), kBoth);
  size_t expected = 0;
  for (int round = 0; round < 6; ++round) {
    const bool on = round % 2 == 0;
    toggleCollectionDynamic(on, {ActivityType::CUDA});
    for (int i = 0; i < 100; ++i) session_kernel<<<1, 32>>>();
    CUDA_OK(cudaDeviceSynchronize());
    expected += on ? 100 : 0;
  }
  const auto result = disableProfiler();
  check(kernelsOf(*result) == expected, "switched off and on: " + std::to_string(kernelsOf(*result)) + " of " + std::to_string(expected));
}

void memory() {
  ProfilerConfig config(ProfilerState::KINETO);
  config.profile_memory = true;
  enableProfiler(config, kBoth);
  constexpr int64_t kBytes = int64_t{3} << 20;
  void* plain = nullptr;
  void* async = nullptr;
  {
    XSIGMA_PROFILE_SCOPE("allocating");
    CUDA_OK(cudaMalloc(&plain, kBytes));
    CUDA_OK(cudaMallocAsync(&async, kBytes, nullptr));
  }
  CUDA_OK(cudaFreeAsync(async, nullptr));
  CUDA_OK(cudaDeviceSynchronize());
  const auto result = disableProfiler();
  CUDA_OK(cudaFree(plain));
  int64_t bytes = 0;
  const KeyAverages averages = result->keyAverages();
  for (const KeyAverage& row : averages.rows()) {
    if (row.name == "allocating" && row.device == DeviceType::CPU) bytes = row.device_bytes;
  }
  check(bytes == 2 * kBytes, "device memory of the scope: " + std::to_string(bytes) + " of " + std::to_string(2 * kBytes));
}

void graphs(bool whole) {
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 4; ++i) session_kernel<<<1, 32, 0, stream>>>();
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t instance;
  CUDA_OK(cudaGraphInstantiate(&instance, graph, 0));
  ProfilerConfig config(ProfilerState::KINETO);
  config.experimental_config.whole_graphs = whole;
  enableProfiler(config, kBoth);
  for (int i = 0; i < 5; ++i) CUDA_OK(cudaGraphLaunch(instance, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  const auto result = disableProfiler();
  size_t work = 0;
  for (const KinetoEvent& event : result->events()) {
    work += event.deviceType() == DeviceType::CUDA &&
            static_cast<libkineto::ActivityType>(event.activityType()) == libkineto::ActivityType::CONCURRENT_KERNEL;
  }
  check(work == (whole ? 5u : 20u), (whole ? std::string("whole graphs: ") : std::string("nodes of graphs: ")) + std::to_string(work));
  CUDA_OK(cudaGraphExecDestroy(instance));
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaStreamDestroy(stream));
}

// The first start is the slow one, unless it was prepared for.
void startCost() {
  const auto startMs = [] {
    const Clock::time_point begun = Clock::now();
    enableProfiler(ProfilerConfig(ProfilerState::KINETO), kBoth);
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
    session_kernel<<<1, 32>>>();
    CUDA_OK(cudaDeviceSynchronize());
    disableProfiler()->ledger();
    return ms;
  };
  const Clock::time_point begun = Clock::now();
  prepareProfiler(ProfilerConfig(ProfilerState::KINETO), kBoth);
  const double prepare_ms = std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
  const double first = startMs();
  const double second = startMs();
  std::printf("       prepareProfiler %.1f ms, then the first start %.1f ms, the second %.1f ms\n", prepare_ms, first, second);
}

}  // namespace
}  // namespace device_tests

int main(int argc, char** argv) {
  using namespace device_tests;
  int rounds = 15;
  std::string only;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--only") == 0) only = argv[i + 1];
  }
  const auto wanted = [&](const char* part) { return only.empty() || only == part; };
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS}) std::signal(signal, sayWhere);
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // what was said before a crash counts
  skipWithoutDevice();
  CUDA_OK(cudaFree(nullptr));
  if (wanted("start")) startCost();
  if (wanted("pending")) pending();
  if (wanted("toggled")) toggled();
  if (wanted("memory")) memory();
  if (wanted("nodes")) graphs(false);
  if (wanted("graphs")) graphs(true);
  if (wanted("load")) underLoad(rounds);
  if (wanted("kept_out")) keptOut();
  std::printf("%s sessions\n", failures == 0 ? "ok" : "FAILED");
  return failures == 0 ? 0 : kFailed;
}
