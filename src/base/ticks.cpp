#include "base/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <fstream>
#include <string>

namespace xsigma::profiler::base {

#if defined(__x86_64__)
namespace {

// A kernel that has fallen back to one of these has seen the counter go wrong.
bool kernelGaveUpOnCounter() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  file >> source;
  return source == "hpet" || source == "acpi_pm" || source == "jiffies" || source == "refined-jiffies";
}

}  // namespace
#endif

bool counterIsInvariant() noexcept {
#if defined(__x86_64__)
  constexpr unsigned kPowerManagementLeaf = 0x80000007;
  constexpr unsigned kInvariantCounterBit = 1u << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(kPowerManagementLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantCounterBit) != 0 && !kernelGaveUpOnCounter();
#else
  return true;  // the generic timer is one clock for the whole system
#endif
}

}  // namespace xsigma::profiler::base
