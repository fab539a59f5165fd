// SegmentIndex: which stretches of which blocks belong to which thread, in order.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/block_walk.h"

namespace xsigma::profiler::capture {

// One thread's records between two segment heads. Words count from the block's start.
struct Segment {
  uint64_t block_offset = 0;
  uint32_t generation = 0;
  uint32_t first_word = 0;
  uint32_t end_word = 0;
  uint32_t thread = 0;
  uint32_t number = 0;
  uint64_t base_ticks = 0;
  uint64_t begins_before = 0;
  uint64_t id_base = 0;
  uint32_t begins = 0;
  uint32_t late_begins = 0;  // of scopes begun after the stop; their records are not in [first, end)
  bool last_in_block = false;
  bool cut = false;  // the image ends inside it: records are missing
};

// How long the record at words[0] is; 0 if it is not one, or does not end within `words_left`.
inline uint32_t recordWords(const uint32_t* words, uint32_t words_left) noexcept {
  const uint32_t head = words[0];
  uint32_t size = 0;
  switch (headCode(head)) {
    case Code::begin: size = kBeginWords; break;
    case Code::end: size = kEndWords; break;
    case Code::end_long: size = kEndLongWords; break;
    default: {
      const auto code = static_cast<uint8_t>(headCode(head));
      const bool even_parity = (__builtin_popcount(code) & 1) == 0;
      const bool known_shape = code != 0 && code < 0x80 && even_parity && headUnitsSound(head) && headUnits(head) >= 2;
      size = known_shape ? headUnits(head) : 0;
    }
  }
  return size <= words_left ? size : 0;
}

// Takes the segments of a data block; stops at the first record that cannot be one.
void indexBlock(const BlockCopy& block, std::vector<Segment>& segments, Damages& damages);

}  // namespace xsigma::profiler::capture
