// Device time by CUDA events: scopes around kernels of a known length, nested, on two streams, and inside the capture of a graph.
#include <xsigma/profiler/profiler.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "cuda_checks.h"
#include "result_reading.h"

namespace device_tests {
namespace {

using namespace xsigma::profiler;

int failures = 0;

void expect(bool held, const char* what, double found) {
  std::printf("%-6s %s: %.1f\n", held ? "ok" : "FAILED", what, found);
  failures += !held;
}

__global__ void spin(unsigned long long ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - begin < ns);
}

void spinOn(cudaStream_t stream, double microseconds) {
  spin<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(microseconds * 1000));
  CUDA_OK(cudaGetLastError());
}

// A graph of one kernel, captured on a stream inside a scope: the events of the scope must not spoil it.
cudaGraphExec_t captureInScope(cudaStream_t stream) {
  XSIGMA_PROFILE_SCOPE("captured");
  cudaGraph_t graph = nullptr;
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  {
    XSIGMA_PROFILE_SCOPE("inside the capture");
    spinOn(stream, 300);
  }
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t graph_exec = nullptr;
  CUDA_OK(cudaGraphInstantiate(&graph_exec, graph, 0));
  CUDA_OK(cudaGraphDestroy(graph));
  return graph_exec;
}

void workload(cudaStream_t stream) {
  {
    XSIGMA_PROFILE_SCOPE("default stream");
    spinOn(nullptr, 2000);
  }
  {
    XSIGMA_PROFILE_SCOPE("outer");
    spinOn(nullptr, 500);
    {
      XSIGMA_PROFILE_SCOPE("inner");
      spinOn(nullptr, 1000);
    }
    spinOn(nullptr, 500);
  }
  CUDA_OK(cudaDeviceSynchronize());
  setCurrentCudaStream(stream);
  {
    XSIGMA_PROFILE_SCOPE("own stream");
    spinOn(stream, 1500);
  }
  cudaGraphExec_t graph = captureInScope(stream);
  {
    XSIGMA_PROFILE_SCOPE("graph launch");
    CUDA_OK(cudaGraphLaunch(graph, stream));
  }
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaGraphExecDestroy(graph));
}

// What two events add to a scope.
double costOfAScope(cudaStream_t stream) {
  constexpr int kScopes = 2000;
  setCurrentCudaStream(stream);
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < kScopes; ++i) {
    XSIGMA_PROFILE_SCOPE("empty");
  }
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count() / kScopes;
}

int check() {
  skipWithoutDevice();
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  spinOn(nullptr, 10);  // the thread has a context, and the kernel is loaded
  CUDA_OK(cudaDeviceSynchronize());

  enableProfiler(ProfilerConfig(ProfilerState::KINETO_GPU_FALLBACK), {ActivityType::CPU, ActivityType::CUDA});
  workload(stream);
  const double cost = costOfAScope(stream);
  const auto result = disableProfiler();
  printDevices(*result);

  std::map<std::string, double> device_us;
  std::map<std::string, int64_t> device_start, host_start;
  size_t works = 0;
  for (const KinetoEvent& event : result->events()) {
    if (isKernel(event)) {
      ++works;
      device_us[event.name()] = static_cast<double>(event.durationNs()) / 1000;
      device_start.try_emplace(event.name(), event.startNs());
    } else if (!isCall(event)) {
      host_start.try_emplace(event.name(), event.startNs());
    }
  }
  const std::map<std::string, double> expected = {
      {"default stream", 2000}, {"outer", 2000}, {"inner", 1000}, {"own stream", 1500}, {"graph launch", 300}};
  for (const auto& [name, microseconds] : expected) {
    const double found = device_us.count(name) != 0 ? device_us[name] : 0;
    expect(std::abs(found - microseconds) < 0.05 * microseconds + 60, ("µs of " + name).c_str(), found);
    if (device_us.count(name) == 0) continue;
    const double late = static_cast<double>(device_start[name] - host_start[name]) / 1000;
    expect(late > -20 && late < (name == "outer" || name == "inner" ? 6000 : name == "graph launch" ? 3000 /* its first launch uploads it */ : 500),
           ("µs from the scope's begin to the device's: " + name).c_str(), late);
  }
  expect(device_us.count("inside the capture") == 0, "what is only captured takes no time",
         static_cast<double>(device_us.count("inside the capture")));
  expect(works >= 2005, "ranges", static_cast<double>(works));
  expect(cost < 50, "µs that a scope takes", cost);
  const KeyAverages averages = result->keyAverages();
  expect(averages.at("inner").device_total_ns >= 990'000, "µs of device time of inner in the table",
         static_cast<double>(averages.at("inner").device_total_ns) / 1000);
  expect(cudaGetLastError() == cudaSuccess, "no error is left behind", 0);
  return failures == 0 ? 0 : kFailed;
}

}  // namespace
}  // namespace device_tests

int main() { return device_tests::check(); }
