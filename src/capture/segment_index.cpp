#include "capture/segment_index.h"

#include <cstring>

#include "base/checksum.h"

namespace xsigma::profiler::capture {
namespace {

uint64_t wide(uint32_t low, uint32_t high) noexcept { return low | static_cast<uint64_t>(high) << 32; }

}  // namespace

void indexBlock(const BlockCopy& block, std::vector<Segment>& segments, Damages& damages) {
  Segment current;
  bool open = false;
  bool unattributed = false;
  uint32_t begins = 0;
  uint32_t at = kBlockHeaderWords;
  const auto close = [&](uint32_t end) {
    if (!open) return;
    current.end_word = block.frozen_words != 0 && end > block.frozen_words ? block.frozen_words : end;
    if (current.end_word < current.first_word) current.end_word = current.first_word;
    segments.push_back(current);
    open = false;
  };
  while (at < block.end_words) {
    const uint32_t* const record = block.words.data() + at;
    const uint32_t size = recordWords(record, block.end_words - at);
    if (size == 0) {
      if (block.end_words < cursorWords(block.cursor)) break;  // cut short, and said so
      damages.push_back({block.offset + at * 4, "the framing of this block is damaged; the rest of it is lost"});
      return close(at);
    }
    if (headCode(record[0]) == Code::segment) {
      SegmentRecord segment;
      if (size != kSegmentWords ||
          (std::memcpy(&segment, record, sizeof segment), segment.crc != base::crc32(&segment, offsetof(SegmentRecord, crc)))) {
        damages.push_back({block.offset + at * 4, "the head of a thread's stretch is damaged; the stretch is lost"});
        close(at);
        unattributed = true;
      } else {
        close(at);
        unattributed = false;
        current = {block.offset,
                   block.generation,
                   at + size,
                   0,
                   segment.thread,
                   segment.number,
                   wide(segment.base_low, segment.base_high),
                   wide(segment.begins_low, segment.begins_high),
                   wide(segment.id_low, segment.id_high),
                   0,
                   0,
                   false,
                   false};
        open = true;
      }
    } else if (!open && !unattributed) {
      damages.push_back({block.offset + at * 4, "records that belong to no thread; the rest of the block is lost"});
      return;
    }
    if (const Code code = headCode(record[0]); code == Code::begin || code == Code::device) {
      ++begins;
      const bool late = block.frozen_words != 0 && at >= block.frozen_words;
      ++(late ? current.late_begins : current.begins);
    }
    at += size;
  }
  current.last_in_block = true;
  current.cut = block.end_words < cursorWords(block.cursor);
  close(at);
  if (block.end_words == cursorWords(block.cursor) && begins != cursorBegins(block.cursor)) {
    damages.push_back({block.offset, "this block does not hold as many scopes as it says; some of its records are damaged"});
  }
}

}  // namespace xsigma::profiler::capture
