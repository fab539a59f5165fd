// Checksums of the capture format.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xsigma::profiler::base {

uint32_t crc32(const void* bytes, size_t size, uint32_t seed = 0) noexcept;

// A counter of up to 48 bits that carries its own check: one 8-byte store, whole at every instant.
inline constexpr uint64_t kCheckedMax = (uint64_t{1} << 48) - 1;

constexpr uint16_t fold16(uint64_t value) noexcept {
  return static_cast<uint16_t>(value ^ (value >> 16) ^ (value >> 32));
}
constexpr uint64_t packChecked(uint64_t value) noexcept { return (value << 16) | fold16(value & kCheckedMax); }
constexpr bool isChecked(uint64_t packed) noexcept { return fold16(packed >> 16) == static_cast<uint16_t>(packed); }
constexpr uint64_t unpackChecked(uint64_t packed) noexcept { return packed >> 16; }

}  // namespace xsigma::profiler::base
