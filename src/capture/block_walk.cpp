#include "capture/block_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "capture/block_check.h"

namespace xsigma::profiler::capture {
namespace {

constexpr int kTries = 8;

enum class Found { block, unused, damaged, changing };

// A header as plain values: the live one may change under our eyes.
struct HeaderCopy {
  alignas(BlockHeader) unsigned char bytes[sizeof(BlockHeader)] = {};

  const BlockHeader& get() const { return *reinterpret_cast<const BlockHeader*>(bytes); }
  bool read(const Image& image, uint64_t offset) { return image.read(offset, bytes, sizeof bytes) == sizeof bytes; }
  uint32_t generation() const { return get().generation.load(std::memory_order_relaxed); }
};

Found classify(const HeaderCopy& header, uint64_t offset) {
  static constexpr unsigned char kZeros[sizeof(BlockHeader)] = {};
  if (std::memcmp(header.bytes, kZeros, sizeof kZeros) == 0) return Found::unused;
  if (header.generation() == 0) return Found::changing;
  const BlockHeader& block = header.get();
  if (block.magic != kBlockMagic || (block.type != BlockType::data && block.type != BlockType::table) || block.pages == 0 ||
      block.pages > kMaxChunkBytes / kPageBytes) {
    return Found::damaged;
  }
  return block.crc == blockCrc(block, header.generation(), offset / kPageBytes) ? Found::block : Found::damaged;
}

// Reads the block until header and bytes belong together.
Found copyBlock(const Image& image, uint64_t offset, BlockCopy& copy, HeaderCopy& header) {
  Found found = Found::changing;
  for (int i = 0; i < kTries && found == Found::changing; ++i) {
    if (!header.read(image, offset)) return Found::unused;  // the file has been cut at its end since: it was closed
    found = classify(header, offset);
    if (found != Found::block) continue;
    copy.words.resize(blockWords(header.get()));
    const size_t bytes = image.read(offset, copy.words.data(), copy.words.size() * 4);
    copy.words.resize(bytes / 4);
    HeaderCopy after;
    if (!after.read(image, offset) || after.generation() != header.generation()) found = Found::changing;
  }
  return found;
}

}  // namespace

void walkBlocks(const Image& image, Damages& damages, const std::function<void(const BlockCopy&)>& visit, bool at_rest) {
  BlockCopy copy;
  HeaderCopy header;
  bool in_damage = false;
  uint64_t offset = kPageBytes;
  uint64_t passed_by = 0;   // where the pages began that were unused or changing just now; 0 = there were none
  uint64_t looked_again = 0;
  const uint64_t size = image.size();  // a live file may grow as fast as it is read
  while (offset + sizeof(BlockHeader) <= size) {
    Found found = copyBlock(image, offset, copy, header);
    if (found == Found::changing && at_rest) found = Found::damaged;
    if (found == Found::unused || found == Found::changing) {
      // An unused page inside a damaged stretch is that stretch's own. A block that is taken over keeps its size.
      if (passed_by == 0) passed_by = offset;
      const uint16_t pages = found == Found::changing ? header.get().pages : 0;
      offset += std::clamp<size_t>(pages, 1, kMaxChunkBytes / kPageBytes) * kPageBytes;
      continue;
    }
    // In a live image the page may be the inside of a block that was taken since its first page was looked at.
    if (found == Found::damaged && !at_rest && passed_by != 0 && looked_again != offset) {
      looked_again = offset;
      offset = passed_by;
      passed_by = 0;
      continue;
    }
    passed_by = 0;
    if (found == Found::damaged) {
      if (!in_damage) damages.push_back({offset, "the header of this block is damaged; its records are lost"});
      in_damage = true;
      offset += kPageBytes;
      continue;
    }
    in_damage = false;
    const BlockHeader& block = header.get();
    const uint64_t cursor = block.cursor.load(std::memory_order_relaxed);
    const uint64_t frozen = block.frozen.load(std::memory_order_relaxed);
    copy.offset = offset;
    copy.type = block.type;
    copy.generation = header.generation();
    copy.cursor = static_cast<uint32_t>(cursor);
    copy.frozen_words = 0;
    const uint32_t all_words = blockWords(block);
    const uint32_t written = cursorWords(copy.cursor);
    offset += all_words * 4;
    if (!isCursor(cursor) || written > all_words || written < kBlockHeaderWords) {
      damages.push_back({copy.offset, "the cursor of this block is damaged; its records are lost"});
      continue;
    }
    if (frozen != 0) {
      if (isCursor(frozen) && cursorWords(frozen) <= written) {
        copy.frozen_words = cursorWords(frozen);
      } else {
        damages.push_back({copy.offset, "the mark of where this block stood at stop is damaged; records that came late count as recorded"});
      }
    }
    copy.end_words = std::min(written, static_cast<uint32_t>(copy.words.size()));
    if (copy.end_words < written) {
      damages.push_back({copy.offset + copy.words.size() * 4, fmt::format("the file ends inside a block: {} bytes of records are missing",
                                                                          (written - copy.end_words) * 4)});
    }
    visit(copy);
  }
}

bool readBlockWords(const Image& image, uint64_t block_offset, uint32_t generation, uint32_t first, uint32_t end, std::vector<uint32_t>& words) {
  words.resize(end - first);
  const size_t bytes = words.size() * 4;
  if (image.read(block_offset + first * 4, words.data(), bytes) != bytes) return false;
  HeaderCopy header;
  return header.read(image, block_offset) && header.generation() == generation;
}

}  // namespace xsigma::profiler::capture
