// BlockPool: hands out the blocks of a capture under its byte cap. Cold: once per block, under a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "capture/format.h"
#include "capture/store.h"
#include "xsigma/profiler/capture.h"

namespace xsigma::profiler::capture {

class BlockPool {
 public:
  // The first page is the header's. The store outlives the pool.
  BlockPool(Store& store, CapturePolicy policy, size_t byte_cap);

  static size_t chunkBytesFor(CapturePolicy policy, size_t byte_cap);

  // Puts a block with room for at least `words` into `place`, or returns false with the reason. `level` counts the blocks that the writer has had:
  // first ones are small, so that many short-lived threads cost little.
  // `of_device`: the writer is no thread of the program, and goes on while what devices still have is fetched.
  bool takeData(std::atomic<BlockHeader*>& place, uint32_t level, uint32_t words, LossCause& why, bool of_device = false) noexcept;
  // The writer has left the block: full, or with room that the next taker goes on with.
  void giveBack(BlockHeader* block, bool of_device = false) noexcept;
  // Never recycled. Null when the cap leaves no room.
  BlockHeader* takeTable() noexcept;

  // Threads get no block any more; devices and tables do, until stop().
  template <typename Freeze>
  void stopThreads(Freeze freeze) {
    const std::lock_guard lock(mutex_);
    threads_stopped_ = true;
    freeze();
  }
  // No block is handed out any more. Runs `freeze` while nobody can take or give back.
  template <typename Freeze>
  void stop(Freeze freeze) {
    const std::lock_guard lock(mutex_);
    threads_stopped_ = stopped_ = true;
    freeze();
  }

  size_t usedBytes() const noexcept {
    const std::lock_guard lock(mutex_);
    return frontier_;
  }
  size_t chunkBytes() const noexcept { return chunk_bytes_; }

 private:
  BlockHeader* at(size_t offset) const noexcept { return reinterpret_cast<BlockHeader*>(store_.base() + offset); }
  BlockHeader* takeFresh(size_t wanted_bytes, size_t limit, BlockType type) noexcept;
  BlockHeader* takeOldest(BlockType type) noexcept;
  void prepare(BlockHeader* block, BlockType type, size_t bytes) noexcept;
  size_t claimPopulation() noexcept;

  Store& store_;
  const CapturePolicy policy_;
  const size_t chunk_bytes_;
  const size_t table_bytes_;
  size_t byte_limit_;
  size_t data_limit_;

  mutable std::mutex mutex_;
  size_t frontier_ = kPageBytes;
  size_t populated_;
  uint32_t generation_ = 0;
  bool stopped_ = false;
  bool threads_stopped_ = false;
  bool disk_full_ = false;
  uint32_t refused_ = 0;    // takes since then
  size_t table_total_ = 0;  // tables leave half of the capture to the records

  // Blocks with room that their threads have left; the latest first.
  static constexpr size_t kMaxPartial = 1024;
  std::unique_ptr<BlockHeader*[]> partial_;
  size_t partial_count_ = 0;

  // Ring only: blocks that are full, oldest first.
  std::unique_ptr<BlockHeader*[]> closed_;
  size_t closed_capacity_ = 0;
  size_t closed_first_ = 0;
  size_t closed_count_ = 0;
};

}  // namespace xsigma::profiler::capture
