// A capture allocates nothing. In a program of its own: it counts every call of malloc.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "base/native_stack.h"

extern "C" void* __libc_malloc(size_t size);

static std::atomic<int> allocations{0};

extern "C" void* malloc(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}

using namespace xsigma::profiler::base;

TEST(NativeStack, CaptureAllocatesNothing) {
  prepareStackCapture();
  uint64_t frames[kMostStackFrames];
  const int before = allocations;
  size_t count = 0;
  for (int i = 0; i < 1000; ++i) count += captureStack(frames, kMostStackFrames, 0);
  const int after = allocations;
  EXPECT_GT(count, 3000U);
  EXPECT_EQ(after, before);
  std::free(std::malloc(1000));
  EXPECT_GT(allocations, after) << "malloc is not counted: the test says nothing";
}
