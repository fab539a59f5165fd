#include "profile/trace_id.h"

#include <fmt/format.h>

#include <cstdint>
#include <random>

namespace xsigma::profiler::profile {

std::string randomTraceId() {
  std::random_device random;
  const auto half = [&] { return uint64_t{random()} << 32 | random(); };
  const uint64_t high = (half() & ~uint64_t{0xF000}) | 0x4000;               // version 4
  const uint64_t low = (half() & ~(uint64_t{3} << 62)) | uint64_t{2} << 62;  // of RFC 4122
  return fmt::format("{:016X}{:016X}", high, low);
}

}  // namespace xsigma::profiler::profile
