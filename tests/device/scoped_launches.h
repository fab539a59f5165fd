// Launches inside scopes: an op around each, and a user scope around a hundred of them.
#pragma once

#include <cuda_runtime.h>
#include <xsigma/profiler/profiler.h>

#include <algorithm>
#include <cstdint>

#include "cuda_checks.h"
#include "launch_groups.h"

namespace device_tests {

// Waits for its work before it goes.
class Stream {
 public:
  Stream() { CUDA_OK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() {
    CUDA_OK(cudaStreamSynchronize(stream_));
    CUDA_OK(cudaStreamDestroy(stream_));
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// The op that asks for a launch.
template <typename Launch>
void launchOp(const Launch& launch, uint64_t i) {
  XSIGMA_PROFILE_FUNCTION();
  launch(i);
}

// Calls launch(i) for each i below count, an op each; in_scope opens the user scope around a hundred of them.
template <typename InScope, typename Launch>
void inScopes(uint64_t count, const InScope& in_scope, const Launch& launch) {
  for (uint64_t done = 0; done < count; done += kScopeLaunches) {
    in_scope([&] {
      for (uint64_t i = done; i < std::min(done + kScopeLaunches, count); ++i) launchOp(launch, i);
    });
  }
}
#define IN_SCOPE(name)          \
  [](const auto& body) {        \
    XSIGMA_PROFILE_SCOPE(name); \
    body();                     \
  }

}  // namespace device_tests
