// Kernels that really overlap on one row: streams, graphs with parallel branches, programmatic dependent launches. None may be missing in the trace.
//
//     overlap [--rounds N] [--output FILE.json.gz]
//
// What was launched goes into the trace as "deviceTest"; overlap_check.py holds the file, and what Perfetto shows of it, to that.
#include <xsigma/profiler/profiler.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cuda_checks.h"
#include "result_reading.h"

// Each runs for so many cycles of the processor it is on: a few dozen microseconds.
__device__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
extern "C" {
__global__ void overlap_stream_kernel(long long cycles) { spin(cycles); }
__global__ void overlap_branch_kernel(long long cycles) { spin(cycles); }
// Lets its dependents begin at once, and goes on.
__global__ void overlap_dependent_kernel(long long cycles) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  spin(cycles);
}
}

namespace device_tests {
namespace {

using namespace xsigma::profiler;

constexpr int kStreams = 8;
constexpr int kBranches = 6;
constexpr int kBranchKernels = 4;
constexpr int kDependents = 16;
constexpr long long kCycles = 60000;

void launchDependent(cudaStream_t stream, long long cycles) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(32);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUDA_OK(cudaLaunchKernelEx(&config, overlap_dependent_kernel, cycles));
}

// Branches side by side, each a chain of kernels of different lengths; one chain has programmatic dependent launches in it.
cudaGraphExec_t makeGraph(cudaStream_t stream, const std::vector<cudaStream_t>& branches) {
  XSIGMA_PROFILE_SCOPE("graph capture");
  cudaEvent_t fork = nullptr;
  std::vector<cudaEvent_t> joins(branches.size());
  CUDA_OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CUDA_OK(cudaEventRecord(fork, stream));
  for (size_t b = 0; b < branches.size(); ++b) {
    CUDA_OK(cudaStreamWaitEvent(branches[b], fork, 0));
    for (int k = 0; k < kBranchKernels; ++k) {
      if (b == 0 && k > 0) {
        launchDependent(branches[b], kCycles);
      } else {
        overlap_branch_kernel<<<1, 32, 0, branches[b]>>>(kCycles + static_cast<long long>(b) * kCycles / 4);
        CUDA_OK(cudaGetLastError());
      }
    }
    CUDA_OK(cudaEventCreateWithFlags(&joins[b], cudaEventDisableTiming));
    CUDA_OK(cudaEventRecord(joins[b], branches[b]));
    CUDA_OK(cudaStreamWaitEvent(stream, joins[b], 0));
  }
  cudaGraph_t graph = nullptr;
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  CUDA_OK(cudaGraphInstantiate(&executable, graph, 0));
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaEventDestroy(fork));
  for (const cudaEvent_t join : joins) CUDA_OK(cudaEventDestroy(join));
  return executable;
}

Counts launchRounds(int rounds) {
  std::vector<cudaStream_t> streams(kStreams), branches(kBranches);
  for (cudaStream_t& stream : streams) CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (cudaStream_t& stream : branches) CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const cudaGraphExec_t graph = makeGraph(streams[0], branches);
  Counts launched;
  for (int round = 0; round < rounds; ++round) {
    XSIGMA_PROFILE_SCOPE("round");
    {
      XSIGMA_PROFILE_SCOPE("streams");
      for (int i = 0; i < 3 * kStreams; ++i) {
        overlap_stream_kernel<<<1, 32, 0, streams[static_cast<size_t>(i % kStreams)]>>>(kCycles + i * kCycles / 8);
        CUDA_OK(cudaGetLastError());
      }
    }
    {
      XSIGMA_PROFILE_SCOPE("graph");
      CUDA_OK(cudaGraphLaunch(graph, streams[0]));
    }
    {
      XSIGMA_PROFILE_SCOPE("dependents");
      for (int i = 0; i < kDependents; ++i) launchDependent(streams[1], kCycles);
    }
    launched["overlap_stream_kernel"] += 3 * kStreams;
    launched["overlap_branch_kernel"] += kBranches * kBranchKernels - (kBranchKernels - 1);
    launched["overlap_dependent_kernel"] += kDependents + kBranchKernels - 1;
  }
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaGraphExecDestroy(graph));
  for (const cudaStream_t stream : streams) CUDA_OK(cudaStreamDestroy(stream));
  for (const cudaStream_t stream : branches) CUDA_OK(cudaStreamDestroy(stream));
  return launched;
}

// Kernels that begin while another of their stream runs and end after it: no row can show both as they are.
uint64_t crossings(const std::vector<KinetoEvent>& events) {
  std::map<std::pair<int, int64_t>, std::vector<std::pair<int64_t, int64_t>>> rows;
  for (const KinetoEvent& event : events) {
    if (isKernel(event))
      rows[{event.deviceIndex(), argument(event, "stream", event.deviceResourceId())}].emplace_back(event.startNs(), event.endNs());
  }
  uint64_t crossing = 0;
  for (auto& [row, spans] : rows) {
    std::sort(spans.begin(), spans.end());
    int64_t latest_end = INT64_MIN;
    for (const auto& [start, end] : spans) {
      if (start < latest_end && end > latest_end) ++crossing;
      latest_end = std::max(latest_end, end);
    }
  }
  return crossing;
}

int run(int rounds, const std::string& output) {
  CUDA_OK(cudaFree(nullptr));
  ProfilerConfig config(ProfilerState::KINETO);
  config.experimental_config.enable_cuda_sync_events = true;
  config.experimental_config.expose_kineto_event_metadata = true;
  enableProfiler(config, {ActivityType::CPU, ActivityType::CUDA});
  const Counts launched = launchRounds(rounds);
  std::string json = "{\"kernels\": {";
  for (const auto& [name, count] : launched) json += (json.back() == '{' ? "\"" : ", \"") + name + "\": " + std::to_string(count);
  addMetadataJson("deviceTest", json + "}}");
  const auto result = disableProfiler();
  printDevices(*result);

  Counts recorded;
  for (const KinetoEvent& event : result->events()) {
    if (isKernel(event)) ++recorded[plainName(event.name())];
  }
  for (const auto& [name, count] : launched) {
    std::printf("  %-32s launched %8llu   recorded %8llu\n", name.c_str(), static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(recorded[name]));
  }
  const uint64_t crossing = crossings(result->events());
  std::printf("  kernels that cross another one of their stream: %llu\n", static_cast<unsigned long long>(crossing));
  if (!output.empty()) result->save(output);
  const bool right = recorded == launched && crossing > 0 && result->complete() && result->ledger().whole();
  std::printf("%s overlap\n", right ? "ok" : "FAILED");
  return right ? 0 : kFailed;
}

}  // namespace
}  // namespace device_tests

int main(int argc, char** argv) {
  int rounds = 50;
  std::string output;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--output") == 0) output = argv[i + 1];
  }
  device_tests::skipWithoutDevice();
  try {
    return device_tests::run(rounds, output);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "FAILED overlap: %s\n", error.what());
    return device_tests::kFailed;
  }
}
