// Finds the blocks of an image, sound or not, and copies each whole.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "capture/format.h"
#include "capture/image.h"
#include "xsigma/profiler/capture.h"

namespace xsigma::profiler::capture {

// A copy of one block as it was at one moment.
struct BlockCopy {
  uint64_t offset = 0;
  BlockType type = BlockType::data;
  uint32_t generation = 0;
  uint32_t cursor = 0;      // unpacked: up to where it is written, how many scopes began
  uint32_t frozen_words = 0;  // 0: not frozen
  uint32_t end_words = 0;   // readable words, at most what the cursor says
  std::vector<uint32_t> words;
};

using Damages = std::vector<Damage>;

// Calls visit for every readable block in file order; what is not readable goes to `damages`. A block that is just being taken over is passed by,
// unless the image is `at_rest`: then nobody can be doing so.
void walkBlocks(const Image& image, Damages& damages, const std::function<void(const BlockCopy&)>& visit, bool at_rest = false);

// Reads words [first, end) of the block again. False if it has been overwritten since.
bool readBlockWords(const Image& image, uint64_t block_offset, uint32_t generation, uint32_t first, uint32_t end, std::vector<uint32_t>& words);

}  // namespace xsigma::profiler::capture
