#include "launch_groups.h"

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "cuda_checks.h"
#include "scoped_launches.h"

extern "C" {
__global__ void streams_kernel(unsigned* counter) { atomicAdd(counter, 1u); }
__global__ void default_stream_kernel(unsigned* counter) { atomicAdd(counter, 1u); }
__global__ void graph_kernel(unsigned* counter) { atomicAdd(counter, 1u); }
__global__ void older_graph_kernel(unsigned* counter) { atomicAdd(counter, 1u); }
__global__ void driver_kernel(unsigned* counter) { atomicAdd(counter, 1u); }
__global__ void short_thread_kernel(unsigned* counter) { atomicAdd(counter, 1u); }
__global__ void primary_kernel(unsigned* counter) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  atomicAdd(counter, 1u);
}
__global__ void secondary_kernel(unsigned* counter) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  atomicAdd(counter, 1u);
}
}

// A name that has to be demangled.
template <typename T>
__global__ void cooperative_kernel(T* counter) {
  atomicAdd(counter, T{1});
}

namespace device_tests {
namespace {

constexpr uint64_t kGraphKernels = 10;      // of them two branches of five
constexpr uint64_t kOlderGraphKernels = 5;  // a chain
constexpr int kStreamsPerThread = 4;
constexpr size_t kTransferBytes = 4096;

unsigned* counter = nullptr;  // on the device, never freed: work of any group may count here
cudaGraphExec_t older_graph = nullptr;

void launchOnStreams(uint64_t launches, Launched& launched) {
  const Stream streams[kStreamsPerThread];
  inScopes(launches, IN_SCOPE("streams"), [&](uint64_t i) {
    streams_kernel<<<1, 32, 0, streams[i % kStreamsPerThread]>>>(counter);
    CUDA_OK(cudaGetLastError());
  });
  launched.kernels["streams_kernel"] += launches;
}

void launchOnDefaultStream(uint64_t launches, Launched& launched) {
  inScopes(launches, IN_SCOPE("default stream"), [&](uint64_t) {
    default_stream_kernel<<<1, 32>>>(counter);
    CUDA_OK(cudaGetLastError());
  });
  launched.kernels["default_stream_kernel"] += launches;
}

void launchCooperatively(uint64_t launches, Launched& launched) {
  const Stream stream;
  inScopes(launches, IN_SCOPE("cooperative launches"), [&](uint64_t) {
    void* arguments[] = {&counter};
    CUDA_OK(
        cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&cooperative_kernel<unsigned>), dim3(2), dim3(32), arguments, 0, stream));
  });
  launched.kernels["cooperative_kernel<unsigned int>"] += launches;
}

// Programmatic dependent launches: each second kernel may begin while the one before it runs.
void launchDependents(uint64_t launches, Launched& launched) {
  const Stream stream;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(32);
  config.stream = stream;
  inScopes(launches, IN_SCOPE("programmatic dependent launches"), [&](uint64_t i) {
    const bool dependent = i % 2 != 0;
    config.attrs = dependent ? &attribute : nullptr;
    config.numAttrs = dependent ? 1 : 0;
    CUDA_OK(cudaLaunchKernelEx(&config, dependent ? secondary_kernel : primary_kernel, counter));
  });
  launched.kernels["primary_kernel"] += launches - launches / 2;
  launched.kernels["secondary_kernel"] += launches / 2;
}

void launchThroughDriver(uint64_t launches, Launched& launched) {
  using LaunchKernel =
      CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**);
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);  // is loaded already, by the runtime
  const auto launch_kernel = library != nullptr ? reinterpret_cast<LaunchKernel>(dlsym(library, "cuLaunchKernel")) : nullptr;
  if (launch_kernel == nullptr) {
    std::fprintf(stderr, "cuLaunchKernel was not found: %s\n", dlerror());
    std::exit(kBroken);
  }
  cudaFunction_t function = nullptr;
  CUDA_OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&driver_kernel)));
  const Stream stream;
  inScopes(launches, IN_SCOPE("driver launches"), [&](uint64_t) {
    void* arguments[] = {&counter};
    const CUresult result = launch_kernel(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr);
    if (result != CUDA_SUCCESS) {
      std::fprintf(stderr, "cuLaunchKernel: error %d\n", static_cast<int>(result));
      std::exit(kBroken);
    }
  });
  launched.kernels["driver_kernel"] += launches;
}

void launchFromShortThreads(uint64_t launches, Launched& launched) {
  constexpr uint64_t kEach = 20;
  for (uint64_t done = 0; done < launches; done += kEach) {
    std::thread([&] {
      inScopes(std::min(kEach, launches - done), IN_SCOPE("short threads"), [&](uint64_t) {
        short_thread_kernel<<<1, 32>>>(counter);
        CUDA_OK(cudaGetLastError());
      });
    }).join();
  }
  launched.kernels["short_thread_kernel"] += launches;
}

// Two branches of kernels, a copy and a fill.
void captureBranches(cudaStream_t stream, cudaStream_t branch, unsigned* scratch) {
  XSIGMA_PROFILE_FUNCTION();
  cudaEvent_t fork = nullptr, join = nullptr;
  CUDA_OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CUDA_OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  CUDA_OK(cudaMemsetAsync(scratch, 0, kTransferBytes, stream));
  CUDA_OK(cudaEventRecord(fork, stream));
  CUDA_OK(cudaStreamWaitEvent(branch, fork, 0));
  for (uint64_t i = 0; i < kGraphKernels; ++i) {
    graph_kernel<<<1, 32, 0, i % 2 == 0 ? stream : branch>>>(counter);
    CUDA_OK(cudaGetLastError());
  }
  CUDA_OK(cudaEventRecord(join, branch));
  CUDA_OK(cudaStreamWaitEvent(stream, join, 0));
  CUDA_OK(cudaMemcpyAsync(scratch + kTransferBytes / sizeof(unsigned), scratch, kTransferBytes, cudaMemcpyDeviceToDevice, stream));
  CUDA_OK(cudaEventDestroy(fork));
  CUDA_OK(cudaEventDestroy(join));
}

cudaGraphExec_t captureGraph(unsigned* scratch) {
  XSIGMA_PROFILE_SCOPE("graph capture");
  const Stream stream, branch;
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  captureBranches(stream, branch, scratch);
  cudaGraph_t graph = nullptr;
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  CUDA_OK(cudaGraphInstantiate(&executable, graph, 0));
  CUDA_OK(cudaGraphDestroy(graph));
  return executable;
}

void launchGraphs(uint64_t kernels, uint64_t older_kernels, Launched& launched) {
  unsigned* scratch = nullptr;
  CUDA_OK(cudaMalloc(&scratch, 2 * kTransferBytes));
  const cudaGraphExec_t graph = captureGraph(scratch);
  const uint64_t launches = kernels / kGraphKernels, older_launches = older_kernels / kOlderGraphKernels;
  {
    const Stream first, second;  // one graph runs once at a time, whichever stream it is launched on
    inScopes(launches, IN_SCOPE("graph launches"), [&](uint64_t i) { CUDA_OK(cudaGraphLaunch(graph, i % 2 == 0 ? first : second)); });
    inScopes(older_launches, IN_SCOPE("older graph launches"), [&](uint64_t) { CUDA_OK(cudaGraphLaunch(older_graph, second)); });
  }
  CUDA_OK(cudaGraphExecDestroy(graph));
  CUDA_OK(cudaFree(scratch));
  launched.kernels["graph_kernel"] += launches * kGraphKernels;
  launched.kernels["older_graph_kernel"] += older_launches * kOlderGraphKernels;
  launched.transfers["Memset"] += launches;
  launched.transfers["Memcpy DtoD"] += launches;
}

void copyAndFill(uint64_t each, Launched& launched) {
  char *device = nullptr, *pinned = nullptr;
  CUDA_OK(cudaMalloc(&device, 2 * kTransferBytes));
  CUDA_OK(cudaMallocHost(&pinned, kTransferBytes));
  std::vector<char> pageable(kTransferBytes);
  {
    const Stream stream;
    inScopes(each, IN_SCOPE("copies and fills"), [&](uint64_t) {
      CUDA_OK(cudaMemcpyAsync(device, pinned, kTransferBytes, cudaMemcpyHostToDevice, stream));
      CUDA_OK(cudaMemcpyAsync(device + kTransferBytes, device, kTransferBytes, cudaMemcpyDeviceToDevice, stream));
      CUDA_OK(cudaMemcpyAsync(pinned, device, kTransferBytes, cudaMemcpyDeviceToHost, stream));
      CUDA_OK(cudaMemcpy(device, pageable.data(), kTransferBytes, cudaMemcpyHostToDevice));
      CUDA_OK(cudaMemsetAsync(device, 1, kTransferBytes, stream));
    });
  }
  CUDA_OK(cudaFreeHost(pinned));
  CUDA_OK(cudaFree(device));
  launched.transfers["Memcpy HtoD"] += 2 * each;
  launched.transfers["Memcpy DtoD"] += each;
  launched.transfers["Memcpy DtoH"] += each;
  launched.transfers["Memset"] += each;
}

// The work of one of the host threads.
void onHostThread(int thread, const LaunchPlan& plan, Launched& launched) {
  xsigma::profiler::setThreadName("launcher " + std::to_string(thread));
  launchOnStreams(plan.streams / kHostThreads, launched);
  unsigned* own = nullptr;
  CUDA_OK(cudaMalloc(&own, sizeof(unsigned)));
  launchOnThreadStream(own, plan.per_thread / kHostThreads, launched);
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaFree(own));
}

}  // namespace

LaunchPlan::LaunchPlan(uint64_t total)
    : streams(total * 34 / 100),
      per_thread(total * 15 / 100),
      default_stream(total * 10 / 100),
      graph(total * 15 / 100),
      older_graph(total * 5 / 100),
      cooperative(total * 5 / 100),
      programmatic(total * 10 / 100),
      driver(total * 5 / 100),
      short_threads(total / 100),
      transfers(total / 200) {}

void prepareLaunches() {
  CUDA_OK(cudaMalloc(&counter, sizeof(unsigned)));
  CUDA_OK(cudaMemset(counter, 0, sizeof(unsigned)));
  const Stream stream;
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (uint64_t i = 0; i < kOlderGraphKernels; ++i) {
    older_graph_kernel<<<1, 32, 0, stream>>>(counter);
    CUDA_OK(cudaGetLastError());
  }
  cudaGraph_t graph = nullptr;
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  CUDA_OK(cudaGraphInstantiate(&older_graph, graph, 0));
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaDeviceSynchronize());
}

Launched launchAll(const LaunchPlan& plan) {
  std::vector<Launched> by_thread(kHostThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kHostThreads; ++i)
    threads.emplace_back(onHostThread, i, std::cref(plan), std::ref(by_thread[static_cast<size_t>(i)]));
  for (std::thread& thread : threads) thread.join();
  Launched all;
  for (const Launched& launched : by_thread) all.add(launched);
  launchOnDefaultStream(plan.default_stream, all);
  launchCooperatively(plan.cooperative, all);
  launchDependents(plan.programmatic, all);
  launchThroughDriver(plan.driver, all);
  launchFromShortThreads(plan.short_threads, all);
  launchGraphs(plan.graph, plan.older_graph, all);
  copyAndFill(plan.transfers, all);
  CUDA_OK(cudaDeviceSynchronize());
  return all;
}

}  // namespace device_tests
