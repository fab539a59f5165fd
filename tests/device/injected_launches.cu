// A CUDA program that knows nothing of the profiler, for inject_check.py: launches a kernel again and again, counts it, and ends in the way it is told to.
//
//     injected_launches COUNTS_FILE SECONDS return|exit|_exit|quick_exit|abort|wait [marks]
//
// Counts stand in the file, which is mapped, so that they are there after a kill. With `marks` only the middle third lies between cudaProfilerStart and
// cudaProfilerStop, and counts as marked.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "cuda_checks.h"

// Their header is a package of its own.
extern "C" cudaError_t CUDARTAPI cudaProfilerStart();
extern "C" cudaError_t CUDARTAPI cudaProfilerStop();

namespace {

constexpr int kSlots = 1024;  // of a tenth of a second each

struct Counts {
  uint64_t launched;
  uint64_t marked;
  uint64_t slots;
  uint64_t launched_until[kSlots];
};

__global__ void counted_kernel(unsigned* value) { atomicAdd(value, 1u); }

Counts& mapCounts(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || ftruncate(file, sizeof(Counts)) != 0) std::exit(device_tests::kBroken);
  void* const memory = mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) std::exit(device_tests::kBroken);
  return *static_cast<Counts*>(memory);
}

class Launcher {
 public:
  explicit Launcher(Counts& counts) : counts_(counts) {
    CUDA_OK(cudaMalloc(&value_, sizeof(unsigned)));
    CUDA_OK(cudaMemset(value_, 0, sizeof(unsigned)));
  }

  void launchFor(double seconds, bool marked) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
      for (int i = 0; i < 50; ++i) {
        counted_kernel<<<1, 32>>>(value_);
        CUDA_OK(cudaGetLastError());
        ++counts_.launched;
        counts_.marked += marked;
      }
      CUDA_OK(cudaDeviceSynchronize());
      const auto slot = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began_).count() / 100;
      if (slot < kSlots) {
        counts_.launched_until[slot] = counts_.launched;
        counts_.slots = static_cast<uint64_t>(slot) + 1;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

 private:
  Counts& counts_;
  unsigned* value_ = nullptr;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return device_tests::kBroken;
  device_tests::skipWithoutDevice();
  Counts& counts = mapCounts(arguments[1]);
  const double seconds = std::atof(arguments[2]);
  const char* const end = arguments[3];
  const bool marks = count > 4 && std::strcmp(arguments[4], "marks") == 0;
  Launcher launcher(counts);
  std::printf("launching\n");
  std::fflush(stdout);
  if (marks) {
    launcher.launchFor(seconds / 3, false);
    CUDA_OK(cudaProfilerStart());
    launcher.launchFor(seconds / 3, true);
    CUDA_OK(cudaProfilerStop());
    launcher.launchFor(seconds / 3, false);
  } else {
    launcher.launchFor(std::strcmp(end, "wait") == 0 ? 60.0 : seconds, false);
  }
  if (std::strcmp(end, "exit") == 0) std::exit(3);
  if (std::strcmp(end, "_exit") == 0) _exit(3);
  if (std::strcmp(end, "quick_exit") == 0) std::quick_exit(3);
  if (std::strcmp(end, "abort") == 0) std::abort();
  return 3;
}
