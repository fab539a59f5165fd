// The native stack of the calling thread, as return addresses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xsigma::profiler::base {

inline constexpr size_t kMostStackFrames = 64;

// Once, before the first capture: the unwinder's first run may allocate, bind symbols and take the loader's lock.
void prepareStackCapture() noexcept;

// Innermost first: frames[0] lies in the caller, or `skip` calls further out. Returns how many it wrote, never more than kMostStackFrames.
// About 130 to 200 ns a frame, skipped ones too. No allocation; no lock from glibc 2.35 and libgcc 12 on (before: the loader's, once a frame).
// Where a signal interrupted a function, the address is one past the instruction's start: `address - 1` is always in the function.
size_t captureStack(uint64_t* frames, size_t most, unsigned skip) noexcept;

}  // namespace xsigma::profiler::base
