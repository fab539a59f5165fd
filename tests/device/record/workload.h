// A program small enough to be counted: each thing it asks of the GPU is counted under the name that the records should give it.
#pragma once

#include <cuda.h>

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cupti_tools.h"

__global__ void alpha(float* data, int count) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count) data[at] += 1.0f;
}

namespace shapes {
template <typename Number>
__global__ void beta(Number* data, int count) {
  __shared__ Number tile[64];
  tile[threadIdx.x % 64] = data[threadIdx.x % count];
  __syncthreads();
  data[threadIdx.x % count] = tile[63 - threadIdx.x % 64];
}
}  // namespace shapes

__global__ void gammaRays(float* data) { data[threadIdx.x] *= 0.5f; }
__global__ void together(float* data) { data[threadIdx.x] -= 1.0f; }

__global__ void leader(float* data) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  for (int round = 0; round < 2000; ++round) data[threadIdx.x] = data[threadIdx.x] * 0.5f + 1.0f;
}

__global__ void follower(float* data) {
  for (int round = 0; round < 2000; ++round) data[64 + threadIdx.x] = data[64 + threadIdx.x] * 0.5f + 1.0f;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  data[threadIdx.x] += 1.0f;
}

inline constexpr char kDriverKernel[] = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry fromTheDriver()\n{\n  ret;\n}\n";

class Workload {
 public:
  std::map<std::string, int> counts;
  std::map<std::string, uint32_t> threads;

  void wholeRun() {
    threads["main"] = threadNumber();
    createStreams();
    memory();
    kernels();
    std::thread([this] { secondThread(); }).join();
    copiesAndFills();
    eventsAndWaits();
    graph(5, "");
    launchForms();
    failingCall();
    fromTheDriver();
    externalCorrelation();
    SAID(cudaDeviceSynchronize());
    add("call cudaDeviceSynchronize");
    release();
  }

  // The same process after the records of wholeRun were handed over.
  void wholeGraphs() {
    createStreams();
    SAID(cudaMalloc(&data_, kBytes));
    graph(4, "whole ");
    alpha<<<2, 128, 0, prioritized_>>>(data_, kCount);
    add("whole kernel alpha");
    SAID(cudaDeviceSynchronize());
    SAID(cudaFree(data_));
    SAID(cudaStreamDestroy(prioritized_));
    SAID(cudaStreamDestroy(unblocked_));
  }

 private:
  static constexpr int kCount = 1024;
  static constexpr size_t kBytes = kCount * sizeof(float);

  std::mutex mutex_;
  cudaStream_t prioritized_ = nullptr;
  cudaStream_t unblocked_ = nullptr;
  float* data_ = nullptr;
  float* more_ = nullptr;

  void add(const std::string& what, int count = 1) {
    std::lock_guard lock(mutex_);
    counts[what] += count;
  }

  void createStreams() {
    int least = 0, greatest = 0;
    SAID(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    SAID(cudaStreamCreateWithPriority(&prioritized_, cudaStreamDefault, greatest));
    SAID(cudaStreamCreateWithFlags(&unblocked_, cudaStreamNonBlocking));
    counts["priority of the prioritized stream"] = greatest;
  }

  void memory() {
    SAID(cudaMalloc(&data_, kBytes));
    SAID(cudaMalloc(&more_, kBytes));
    add("cudaMalloc of 4096 bytes", 2);
    void* passing = nullptr;
    SAID(cudaMalloc(&passing, 1 << 20));
    SAID(cudaFree(passing));
    add("cudaMalloc of 1048576 bytes");
    add("cudaFree of 1048576 bytes");
    for (int round = 0; round < 2; ++round) {
      void* pooled = nullptr;
      SAID(cudaMallocAsync(&pooled, 65536, unblocked_));
      SAID(cudaFreeAsync(pooled, unblocked_));
      add("cudaMallocAsync of 65536 bytes");
      add("cudaFreeAsync of 65536 bytes");
    }
    SAID(cudaStreamSynchronize(unblocked_));
    add("call cudaStreamSynchronize");
  }

  void kernels() {
    for (int round = 0; round < 7; ++round) alpha<<<4, 256, 0, prioritized_>>>(data_, kCount);
    for (int round = 0; round < 5; ++round) shapes::beta<float><<<dim3(3, 2, 1), dim3(32, 2, 2), 512, unblocked_>>>(data_, kCount);
    for (int round = 0; round < 2; ++round) gammaRays<<<1, 64>>>(data_);
    add("kernel alpha", 7);
    add("kernel beta", 5);
    add("kernel gammaRays", 2);
  }

  void secondThread() {
    threads["second"] = threadNumber();
    pthread_setname_np(pthread_self(), "second");
    for (int round = 0; round < 6; ++round) gammaRays<<<1, 32, 0, cudaStreamPerThread>>>(data_);
    for (int round = 0; round < 3; ++round) alpha<<<4, 256, 0, unblocked_>>>(data_, kCount);
    SAID(cudaStreamSynchronize(cudaStreamPerThread));
    add("kernel gammaRays", 6);
    add("kernel alpha", 3);
    add("call cudaStreamSynchronize");
    add("launches of the second thread", 9);
  }

  void copiesAndFills() {
    std::vector<float> pageable(kCount);
    float* pinned = nullptr;
    SAID(cudaMallocHost(&pinned, kBytes));
    SAID(cudaMemcpy(data_, pageable.data(), kBytes, cudaMemcpyHostToDevice));
    SAID(cudaMemcpy(pageable.data(), data_, kBytes, cudaMemcpyDeviceToHost));
    SAID(cudaMemcpyAsync(data_, pinned, kBytes, cudaMemcpyHostToDevice, unblocked_));
    SAID(cudaMemcpyAsync(data_, pinned, kBytes / 2, cudaMemcpyHostToDevice, unblocked_));
    SAID(cudaMemcpyAsync(pinned, data_, kBytes, cudaMemcpyDeviceToHost, unblocked_));
    SAID(cudaMemcpyAsync(more_, data_, kBytes, cudaMemcpyDeviceToDevice, unblocked_));
    SAID(cudaMemset(data_, 0, kBytes));
    SAID(cudaMemsetAsync(more_, 1, kBytes, unblocked_));
    SAID(cudaMemsetAsync(more_, 2, 1024, unblocked_));
    SAID(cudaStreamSynchronize(unblocked_));
    SAID(cudaFreeHost(pinned));
    add("copy HtoD", 3);
    add("copy DtoH", 2);
    add("copy DtoD", 1);
    add("fill", 3);
    add("call cudaStreamSynchronize");
  }

  void eventsAndWaits() {
    cudaEvent_t event = nullptr;
    SAID(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (int round = 0; round < 4; ++round) {
      alpha<<<1, 32, 0, prioritized_>>>(data_, kCount);
      SAID(cudaEventRecord(event, prioritized_));
      SAID(cudaStreamWaitEvent(unblocked_, event, 0));
      gammaRays<<<1, 32, 0, unblocked_>>>(data_);
    }
    SAID(cudaEventSynchronize(event));
    SAID(cudaEventDestroy(event));
    add("kernel alpha", 4);
    add("kernel gammaRays", 4);
    add("call cudaEventRecord", 4);
    add("call cudaStreamWaitEvent", 4);
    add("call cudaEventSynchronize");
  }

  void graph(int launches, const std::string& prefix) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    SAID(cudaStreamBeginCapture(unblocked_, cudaStreamCaptureModeGlobal));
    alpha<<<1, 32, 0, unblocked_>>>(data_, kCount);
    shapes::beta<float><<<1, 64, 0, unblocked_>>>(data_, kCount);
    SAID(cudaMemsetAsync(data_, 0, 256, unblocked_));
    alpha<<<1, 64, 0, unblocked_>>>(data_, kCount);
    SAID(cudaStreamEndCapture(unblocked_, &graph));
    SAID(cudaGraphInstantiate(&executable, graph, 0));
    for (int launch = 0; launch < launches; ++launch) SAID(cudaGraphLaunch(executable, unblocked_));
    SAID(cudaStreamSynchronize(unblocked_));
    SAID(cudaGraphExecDestroy(executable));
    SAID(cudaGraphDestroy(graph));
    add(prefix + "call cudaGraphLaunch", launches);
    add(prefix + "call cudaStreamSynchronize");
    add(prefix + "kernel alpha in a graph", 2 * launches);
    add(prefix + "kernel beta in a graph", launches);
    add(prefix + "fill in a graph", launches);
  }

  void launchForms() {
    void* arguments[] = {&data_};
    SAID(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(together), dim3(2), dim3(64), arguments, 0, unblocked_));
    add("kernel together");
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(1);
    config.blockDim = dim3(64);
    config.stream = unblocked_;
    config.attrs = &overlap;
    config.numAttrs = 1;
    for (int pair = 0; pair < 2; ++pair) {
      leader<<<1, 64, 0, unblocked_>>>(data_);
      SAID(cudaLaunchKernelEx(&config, follower, data_));
    }
    add("kernel leader", 2);
    add("kernel follower", 2);
  }

  void failingCall() {
    alpha<<<1, 4096, 0, unblocked_>>>(data_, kCount);
    counts["error of the failing launch"] = int(cudaGetLastError());
    add("failed launches");
  }

  void fromTheDriver() {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) return void(std::printf("! dlopen: %s\n", dlerror()));
    auto* load = reinterpret_cast<decltype(&cuModuleLoadData)>(dlsym(driver, "cuModuleLoadData"));
    auto* find = reinterpret_cast<decltype(&cuModuleGetFunction)>(dlsym(driver, "cuModuleGetFunction"));
    auto* launch = reinterpret_cast<decltype(&cuLaunchKernel)>(dlsym(driver, "cuLaunchKernel"));
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CUresult result = load(&module, kDriverKernel);
    if (result == CUDA_SUCCESS) result = find(&function, module, "fromTheDriver");
    for (int round = 0; round < 3 && result == CUDA_SUCCESS; ++round) {
      result = launch(function, 1, 1, 1, 16, 1, 1, 0, unblocked_, nullptr, nullptr);
      if (result == CUDA_SUCCESS) add("kernel fromTheDriver");
    }
    if (result != CUDA_SUCCESS) std::printf("! launch by the driver's interface: %d\n", int(result));
  }

  void externalCorrelation() {
    SAID(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 4711));
    alpha<<<1, 32, 0, unblocked_>>>(data_, kCount);
    uint64_t last = 0;
    SAID(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last));
    add("kernel alpha");
    counts["external id of the last alpha"] = int(last);
  }

  void release() {
    SAID(cudaFree(data_));
    SAID(cudaFree(more_));
    add("cudaFree of 4096 bytes", 2);
    SAID(cudaStreamDestroy(prioritized_));
    SAID(cudaStreamDestroy(unblocked_));
  }
};
