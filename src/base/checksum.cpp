#include "base/checksum.h"

#include <zlib.h>

namespace xsigma::profiler::base {

uint32_t crc32(const void* bytes, size_t size, uint32_t seed) noexcept {
  return static_cast<uint32_t>(::crc32_z(seed, static_cast<const unsigned char*>(bytes), size));
}

}  // namespace xsigma::profiler::base
