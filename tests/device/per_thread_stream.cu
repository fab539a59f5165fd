// Compiled with --default-stream per-thread: its launches without a stream go to one of the calling thread's own.
#include <xsigma/profiler/profiler.h>

#include <algorithm>

#include "cuda_checks.h"
#include "launch_groups.h"

#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM
#error "this file is compiled with --default-stream per-thread"
#endif

extern "C" __global__ void per_thread_kernel(unsigned* counter) { atomicAdd(counter, 1u); }

namespace device_tests {
namespace {

void launchOne(unsigned* counter) {
  XSIGMA_PROFILE_FUNCTION();
  per_thread_kernel<<<1, 32>>>(counter);
  CUDA_OK(cudaGetLastError());
}

void fillOne(unsigned* counter) {
  XSIGMA_PROFILE_FUNCTION();
  CUDA_OK(cudaMemsetAsync(counter, 0, sizeof(unsigned)));
}

}  // namespace

void launchOnThreadStream(unsigned* counter, uint64_t launches, Launched& launched) {
  for (uint64_t done = 0; done < launches;) {
    XSIGMA_PROFILE_SCOPE("per-thread default streams");
    fillOne(counter);
    ++launched.transfers["Memset"];
    for (const uint64_t end = std::min(done + kScopeLaunches, launches); done < end; ++done) launchOne(counter);
  }
  launched.kernels["per_thread_kernel"] += launches;
}

}  // namespace device_tests
