#include "capture/block_pool.h"

#include <algorithm>

#include "base/checksum.h"
#include "capture/block_check.h"

namespace xsigma::profiler::capture {
namespace {

constexpr size_t kSlabBytes = size_t{2} << 20;
constexpr size_t kChunksPerCap = 16;
constexpr uint32_t kRetryAfter = 4096;
constexpr uint32_t kWorthGoingOnWords = 64;  // less room than this in a block is left unused

size_t tableReserve(CapturePolicy policy, size_t byte_cap) {
  if (policy == CapturePolicy::unbounded) return 0;
  return std::clamp(byte_cap / 16 / kPageBytes * kPageBytes, kPageBytes, size_t{4} << 20);
}

}  // namespace

size_t BlockPool::chunkBytesFor(CapturePolicy policy, size_t byte_cap) {
  if (policy == CapturePolicy::unbounded) return kMaxChunkBytes;
  return std::clamp(byte_cap / kChunksPerCap / kPageBytes * kPageBytes, kMinChunkBytes, kMaxChunkBytes);
}

BlockPool::BlockPool(Store& store, CapturePolicy policy, size_t byte_cap)
    : store_(store),
      policy_(policy),
      chunk_bytes_(chunkBytesFor(policy, byte_cap)),
      table_bytes_(std::min(chunk_bytes_, size_t{16} * 1024)),
      byte_limit_(std::min(byte_cap / kPageBytes * kPageBytes, store.reservedBytes())),
      data_limit_(byte_limit_ - tableReserve(policy, byte_cap)),
      populated_(std::min(kSlabBytes, byte_limit_)),
      partial_(std::make_unique<BlockHeader*[]>(kMaxPartial)) {
  if (policy == CapturePolicy::ring) {
    closed_capacity_ = byte_limit_ / chunk_bytes_ + 1;
    closed_ = std::make_unique<BlockHeader*[]>(closed_capacity_);
  }
}

void BlockPool::prepare(BlockHeader* block, BlockType type, size_t bytes) noexcept {
  const uint32_t generation = ++generation_;
  block->generation.exchange(0, std::memory_order_acq_rel);
  block->magic = kBlockMagic;
  block->type = type;
  block->pages = static_cast<uint16_t>(bytes / kPageBytes);
  block->frozen.store(0, std::memory_order_relaxed);
  block->cursor.store(packCursor(cursorStep(kBlockHeaderWords, 0)), std::memory_order_relaxed);
  block->crc = blockCrc(*block, generation, static_cast<size_t>(reinterpret_cast<char*>(block) - store_.base()) / kPageBytes);
  block->generation.store(generation, std::memory_order_release);
}

BlockHeader* BlockPool::takeFresh(size_t wanted_bytes, size_t limit, BlockType type) noexcept {
  if (frontier_ + kPageBytes > limit) return nullptr;
  if (disk_full_ && ++refused_ % kRetryAfter != 0) return nullptr;  // asking the system each time would cost the program dearly
  const size_t bytes = std::min(wanted_bytes, (limit - frontier_) / kPageBytes * kPageBytes);
  if (!store_.back(frontier_ + bytes)) {
    disk_full_ = true;
    return nullptr;
  }
  disk_full_ = false;
  BlockHeader* const block = at(frontier_);
  frontier_ += bytes;
  prepare(block, type, bytes);
  return block;
}

BlockHeader* BlockPool::takeOldest(BlockType type) noexcept {
  if (closed_count_ == 0) return nullptr;
  BlockHeader* const block = closed_[closed_first_];
  closed_first_ = (closed_first_ + 1) % closed_capacity_;
  --closed_count_;
  prepare(block, type, block->pages * kPageBytes);
  return block;
}

// The next slab to populate, if the writers are half way through the last one; 0 if not.
size_t BlockPool::claimPopulation() noexcept {
  if (frontier_ + kSlabBytes / 2 < populated_ || populated_ >= byte_limit_) return 0;
  if (!store_.back(std::min(populated_ + kSlabBytes, byte_limit_))) return 0;
  const size_t slab = populated_;
  populated_ = std::min(populated_ + kSlabBytes, byte_limit_);
  return slab;
}

bool BlockPool::takeData(std::atomic<BlockHeader*>& place, uint32_t level, uint32_t words, LossCause& why, bool of_device) noexcept {
  size_t slab = 0;
  {
    const std::lock_guard lock(mutex_);
    if (of_device ? stopped_ : threads_stopped_) {
      why = LossCause::late;
      return false;
    }
    BlockHeader* block = nullptr;
    if (partial_count_ > 0) {
      BlockHeader* const candidate = partial_[partial_count_ - 1];
      if (roomInBlock(*candidate) >= words) {
        block = candidate;
        --partial_count_;
      }
    }
    if (block == nullptr) {
      const size_t ramp = policy_ == CapturePolicy::ring ? chunk_bytes_ : kMinChunkBytes << std::min(level, 4u);
      const size_t needed = (words + kBlockHeaderWords) * 4;
      block = takeFresh(std::clamp(std::max(ramp, (needed + kPageBytes - 1) / kPageBytes * kPageBytes), kMinChunkBytes, chunk_bytes_),
                        data_limit_, BlockType::data);
    }
    if (block == nullptr) block = takeOldest(BlockType::data);
    if (block == nullptr) {
      why = disk_full_ ? LossCause::disk_full : policy_ == CapturePolicy::ring ? LossCause::no_chunk : LossCause::cap_reached;
      return false;
    }
    place.store(block, std::memory_order_relaxed);
    slab = claimPopulation();
  }
  if (slab != 0) store_.populate(slab, kSlabBytes);
  return true;
}

void BlockPool::giveBack(BlockHeader* block, bool of_device) noexcept {
  const std::lock_guard lock(mutex_);
  if (of_device ? stopped_ : threads_stopped_) return;
  if (roomInBlock(*block) >= kWorthGoingOnWords && partial_count_ < kMaxPartial) {
    partial_[partial_count_++] = block;
  } else if (policy_ == CapturePolicy::ring) {
    closed_[(closed_first_ + closed_count_) % closed_capacity_] = block;
    ++closed_count_;
  }
}

BlockHeader* BlockPool::takeTable() noexcept {
  const std::lock_guard lock(mutex_);
  if (stopped_) return nullptr;
  if (table_total_ + table_bytes_ > byte_limit_ / 2) return nullptr;
  BlockHeader* block = takeFresh(table_bytes_, byte_limit_, BlockType::table);
  if (block == nullptr && policy_ == CapturePolicy::ring && closed_count_ > 1) block = takeOldest(BlockType::table);
  if (block != nullptr) table_total_ += block->pages * kPageBytes;
  return block;
}

}  // namespace xsigma::profiler::capture
