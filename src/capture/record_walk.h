// Walks the raw records of one segment: the quick way through a capture, for those who decode only what they need.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/source.h"

namespace xsigma::profiler::capture {

// One record as it lies in a data block.
struct RawRecord {
  const uint32_t* words = nullptr;  // the head first
  uint32_t size = 0;
  uint64_t ticks = 0;

  Code code() const noexcept { return headCode(words[0]); }
  uint32_t site() const noexcept { return headSite(words[0]); }  // of begin and end
  // Payload, after head and tick; 0 beyond the record's own length.
  uint32_t word(uint32_t index) const noexcept { return index + 2 < size ? words[index + 2] : 0; }
  uint64_t wide(uint32_t index) const noexcept { return word(index) | static_cast<uint64_t>(word(index + 1)) << 32; }
  const uint32_t* payload() const noexcept { return words + 2; }
  uint32_t payloadWords() const noexcept { return size - 2; }
  // Duration of an end.
  uint64_t duration() const noexcept { return code() == Code::end ? words[2] : words[2] | static_cast<uint64_t>(words[3]) << 32; }
  // [bytes][the bytes …]
  std::string_view text(uint32_t index) const noexcept {
    const uint32_t bytes = word(index);
    if (index + 1 > payloadWords() || bytes > (payloadWords() - index - 1) * 4) return {};
    return {reinterpret_cast<const char*>(words + 2 + index + 1), bytes};
  }
};

// A segment's records one after the other. The words are copied out of the image, which somebody may still be writing to.
class RecordWalk {
 public:
  // False if the block has been overwritten since it was indexed: the segment has no records then.
  bool open(const Capture::Source& source, const Segment& segment) {
    at_ = 0;
    base_ticks_ = segment.base_ticks;
    if (!readBlockWords(source.image(), segment.block_offset, segment.generation, segment.first_word, segment.end_word, words_)) words_.clear();
    return !words_.empty();
  }
  bool next(RawRecord& record) noexcept {
    const auto left = static_cast<uint32_t>(words_.size() - at_);
    if (left < 2) return false;
    record.words = words_.data() + at_;
    record.size = recordWords(record.words, left);
    if (record.size == 0) return false;
    record.ticks = base_ticks_ + record.words[1];
    at_ += record.size;
    return true;
  }

 private:
  std::vector<uint32_t> words_;
  size_t at_ = 0;
  uint64_t base_ticks_ = 0;
};

}  // namespace xsigma::profiler::capture
