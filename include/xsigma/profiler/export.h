// Symbol visibility of the shared library.
#pragma once

#if defined(XSIGMA_PROFILER_STATIC)
#define XSIGMA_PROFILER_API
#else
#define XSIGMA_PROFILER_API __attribute__((visibility("default")))
#endif

#define XSIGMA_PROFILER_LIKELY(x) __builtin_expect(!!(x), 1)
#define XSIGMA_PROFILER_UNLIKELY(x) __builtin_expect(!!(x), 0)
