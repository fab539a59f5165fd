// What the views of an EventBatch point into: chunks of words that are used again with the batch.
#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "xsigma/profiler/trace.h"

namespace xsigma::profiler {

struct EventBatch::Memory {
  uint64_t* take(size_t words) {
    if (words > kChunk) return large.emplace_back(new uint64_t[words]).get();
    if (used + words > kChunk || chunks.empty()) {
      current = chunks.empty() ? 0 : current + 1;
      if (current == chunks.size()) chunks.emplace_back(new uint64_t[kChunk]);
      used = 0;
    }
    uint64_t* const memory = chunks[current].get() + used;
    used += words;
    return memory;
  }
  const uint32_t* copy(const uint32_t* words, size_t count) {
    auto* const memory = reinterpret_cast<uint32_t*>(take((count + 1) / 2));
    if (count != 0) std::memcpy(memory, words, count * sizeof(uint32_t));
    return memory;
  }
  void clear() {
    large.clear();
    current = 0;
    used = 0;
  }

  static constexpr size_t kChunk = 16 * 1024;
  std::vector<std::unique_ptr<uint64_t[]>> chunks;
  std::vector<std::unique_ptr<uint64_t[]>> large;
  size_t current = 0;
  size_t used = 0;
};

namespace assemble {

inline void clearBatch(EventBatch& batch) {
  batch.events.clear();
  batch.all_details.clear();
  if (batch.memory == nullptr || batch.memory.use_count() > 1) batch.memory = std::make_shared<EventBatch::Memory>();
  batch.memory->clear();
}

}  // namespace assemble
}  // namespace xsigma::profiler
