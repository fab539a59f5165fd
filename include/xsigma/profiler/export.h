// Symbol visibility of the shared library.
#pragma once

#if defined(XSIGMA_PROFILER_STATIC)
#define XSIGMA_PROFILER_API
#else
#define XSIGMA_PROFILER_API __attribute__((visibility("default")))
#endif

// Called through the address table directly, without the jump of a procedure linkage table.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define XSIGMA_PROFILER_NOPLT __attribute__((noplt))
#else
#define XSIGMA_PROFILER_NOPLT
#endif

#define XSIGMA_PROFILER_LIKELY(x) __builtin_expect(!!(x), 1)
#define XSIGMA_PROFILER_UNLIKELY(x) __builtin_expect(!!(x), 0)
