// Raw counter reads: the time stamp of every record.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace xsigma::profiler::base {

// The cycle counter. Not ordered after earlier loads; about 7 to 20 ns.
inline uint64_t readTicks() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
#error "XSigma Profiler runs on x86-64 and arm64"
#endif
}

// The same read, as its two 32-bit halves: on x86-64 that is how it arrives, and putting it together costs two instructions.
struct TickHalves {
  uint64_t low;
  uint64_t high;
};
constexpr TickHalves halvesOf(uint64_t ticks) noexcept { return {static_cast<uint32_t>(ticks), ticks >> 32}; }
inline TickHalves readTickHalves() noexcept {
#if defined(__x86_64__)
  TickHalves halves;
  asm volatile("rdtsc" : "=a"(halves.low), "=d"(halves.high));
  return halves;
#else
  return halvesOf(readTicks());
#endif
}

// The same, after everything before it has been done.
inline uint64_t readTicksOrdered() noexcept {
#if defined(__x86_64__)
  _mm_lfence();
#else
  asm volatile("isb" ::: "memory");
#endif
  return readTicks();
}

// Whether the counter runs at one rate on all cores, in all power states. If not, ticks are taken from CLOCK_MONOTONIC.
bool counterIsInvariant() noexcept;

}  // namespace xsigma::profiler::base
