#include "base/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace xsigma::profiler::base {

bool counterIsInvariant() noexcept {
#if defined(__x86_64__)
  constexpr unsigned kPowerManagementLeaf = 0x80000007;
  constexpr unsigned kInvariantCounterBit = 1u << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(kPowerManagementLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantCounterBit) != 0;
#else
  return true;  // the generic timer is one clock for the whole system
#endif
}

}  // namespace xsigma::profiler::base
