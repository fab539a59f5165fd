// Small questions about a block header that writers and readers both ask.
#pragma once

#include "base/checksum.h"
#include "capture/format.h"

namespace xsigma::profiler::capture {

inline uint32_t blockCrc(const BlockHeader& block, uint32_t generation, uint64_t page) noexcept {
  const uint64_t parts[3] = {block.magic | static_cast<uint64_t>(block.type) << 32 | static_cast<uint64_t>(block.pages) << 48, generation, page};
  return base::crc32(parts, sizeof parts);
}

inline uint32_t blockWords(const BlockHeader& block) noexcept { return static_cast<uint32_t>(block.pages * kPageBytes / 4); }

inline uint32_t roomInBlock(const BlockHeader& block) noexcept {
  return blockWords(block) - cursorWords(block.cursor.load(std::memory_order_relaxed));
}

}  // namespace xsigma::profiler::capture
