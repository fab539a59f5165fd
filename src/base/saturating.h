// Sums of what captures say, which may be anything: they stop at the largest number instead of overflowing.
#pragma once

#include <cstdint>

namespace xsigma::profiler::base {

inline void addTo(int64_t& sum, int64_t amount) noexcept {
  if (__builtin_add_overflow(sum, amount, &sum)) sum = amount < 0 ? INT64_MIN : INT64_MAX;
}

}  // namespace xsigma::profiler::base
