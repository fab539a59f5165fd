// Sealing and checking the records of table blocks.
#pragma once

#include <cstring>

#include "base/checksum.h"
#include "capture/format.h"

namespace xsigma::profiler::capture {

constexpr size_t tableBytes(size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

// The crc covers the head and what follows it up to checked_bytes; counters beyond check themselves.
inline uint32_t tableCrc(const void* record, size_t checked_bytes) noexcept {
  uint32_t head;
  std::memcpy(&head, record, sizeof head);
  return base::crc32(static_cast<const char*>(record) + 8, checked_bytes - 8, head);
}

inline void sealTableRecord(void* record, Code code, size_t bytes, size_t checked_bytes) noexcept {
  auto* const words = static_cast<uint32_t*>(record);
  words[0] = sizedHead(code, static_cast<uint32_t>(bytes / 8));
  words[1] = tableCrc(record, checked_bytes);
}

}  // namespace xsigma::profiler::capture
