// A program that uses CUDA and knows nothing of the profiler, where there is no GPU: the device is a recorded one. It does what the driver does in cuInit.
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "standin.h"

namespace {

using namespace xsigma;

constexpr unsigned kTwoFlushes = 700'000;  // µs

bool useCuda() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr) return true;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  auto* const initialize = library != nullptr ? reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")) : nullptr;
  return initialize != nullptr && initialize() != 0;
}

void mark(bool on) {
  standin::call(CUPTI_CB_DOMAIN_DRIVER_API, on ? CUPTI_DRIVER_TRACE_CBID_cuProfilerStart : CUPTI_DRIVER_TRACE_CBID_cuProfilerStop,
                on ? "cuProfilerStart" : "cuProfilerStop");
}

}  // namespace

// injected_cuda_program END [marks]
int main(int count, char** arguments) {
  if (count < 2 || !standin::load(XSIGMA_TEST_RECORDING) || !useCuda()) return 2;
  const std::string end = arguments[1];
  if (count > 2) {
    standin::play({.times_of_now = true});
    mark(true);
    standin::play({.times_of_now = true});
    mark(false);
  }
  standin::play({.times_of_now = true});
  if (end == "_exit") _exit(3);
  if (end == "abort" || end == "kill") usleep(kTwoFlushes);
  if (end == "abort") std::abort();
  if (end == "kill") kill(getpid(), SIGKILL);
  return 3;
}
