// What programs that need a GPU share: an error of CUDA ends them, and a machine without a device is a reason to skip.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace device_tests {

inline constexpr int kFailed = 1;
inline constexpr int kBroken = 2;    // the program itself could not do its work
inline constexpr int kSkipped = 77;  // ctest's SKIP_RETURN_CODE

inline void endOnError(cudaError_t error, const char* what, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", file, line, what, cudaGetErrorName(error), cudaGetErrorString(error));
  std::exit(kBroken);
}

// Ends the program with the status that ctest takes for a skipped test, and says why.
inline void skipWithoutDevice() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0) return;
  std::printf("skipped: no CUDA device: %s\n", error == cudaSuccess ? "the driver counts none" : cudaGetErrorString(error));
  std::exit(kSkipped);
}

}  // namespace device_tests

#define CUDA_OK(call) ::device_tests::endOnError((call), #call, __FILE__, __LINE__)
