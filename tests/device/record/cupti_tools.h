// What both programs here need of CUPTI and of the machine's clocks.
#pragma once

#include <cuda_runtime.h>
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

inline uint64_t clockNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

inline uint64_t CUPTIAPI rawTicks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return clockNs(CLOCK_MONOTONIC);
#endif
}

inline uint32_t threadNumber() { return uint32_t(syscall(SYS_gettid)); }

inline const char* resultText(CUptiResult result) {
  const char* text = nullptr;
  cuptiGetResultString(result, &text);
  return text ? text : "?";
}

// Neither program stops at an error: what failed is part of what they have to tell.
inline CUptiResult said(CUptiResult result, const char* what) {
  if (result != CUPTI_SUCCESS) std::printf("! %s: %d %s\n", what, int(result), resultText(result));
  return result;
}
inline cudaError_t said(cudaError_t result, const char* what) {
  if (result != cudaSuccess) std::printf("! %s: %d %s\n", what, int(result), cudaGetErrorString(result));
  return result;
}
#define SAID(call) said(call, #call)

// A function that not every CUPTI has.
template <typename Function>
Function* optionalFunction(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

inline CUptiResult enableCallsOf(const char* function, CUpti_CallbackId cbid, uint8_t on) {
  auto* enable = optionalFunction<CUptiResult(CUpti_CallbackId, uint8_t)>(function);
  return enable ? enable(cbid, on) : CUPTI_ERROR_NOT_SUPPORTED;
}

inline CUptiResult enableEventTimestamps(uint8_t on) {
  auto* enable = optionalFunction<CUptiResult(uint8_t)>("cuptiActivityEnableCudaEventDeviceTimestamps");
  return enable ? enable(on) : CUPTI_ERROR_NOT_SUPPORTED;
}
