// Writer: where one thread's records of one capture go. The hot path of the profiler.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/ticks.h"
#include "capture/block_check.h"
#include "capture/format.h"
#include "xsigma/profiler/ledger.h"

namespace xsigma::profiler::capture {

class Sink;

// A block without room: what a writer has until its first record.
extern BlockHeader no_block;

// Only its own thread calls a writer, and never twice at a time; others look at block().
class Writer {
 public:
  // Records of this thread go to the sink from now on. `since_epoch` tells the scopes apart that began before.
  void attach(Sink& sink, ThreadRecord* thread, uint32_t since_epoch) noexcept;
  // Forgets the sink without touching it.
  void detach() noexcept;
  // The thread goes away: what is left of the block is for the next one.
  void release() noexcept;

  Sink* sink() const noexcept { return sink_; }
  BlockHeader* block() const noexcept { return block_.load(std::memory_order_relaxed); }
  uint32_t sinceEpoch() const noexcept { return since_epoch_; }
  uint32_t threadIndex() const noexcept { return thread_ != nullptr ? thread_->index : 0; }

  // The quick way for a plain scope: the begin tick, or 0 when it takes more than two stores.
  uint64_t tryBegin(uint32_t head) noexcept {
    BlockHeader* const block = block_.load(std::memory_order_relaxed);
    const auto cursor = static_cast<uint32_t>(block->cursor.load(std::memory_order_relaxed));
    if (cursorWords(cursor) + kBeginWords > end_words_) [[unlikely]] return 0;
    uint32_t* const at = reinterpret_cast<uint32_t*>(block) + cursorWords(cursor);
    const uint64_t ticks = base::readTicks();
    const uint64_t delta = ticks - base_ticks_;
    if (delta >> 32 != 0) [[unlikely]] return 0;
    at[0] = head;
    at[1] = static_cast<uint32_t>(delta);
    publish(block, cursor + cursorStep(kBeginWords, 1));
    return ticks;
  }
  bool tryEnd(uint32_t head, uint64_t begin_ticks, uint64_t ticks) noexcept {
    BlockHeader* const block = block_.load(std::memory_order_relaxed);
    const auto cursor = static_cast<uint32_t>(block->cursor.load(std::memory_order_relaxed));
    const uint64_t delta = ticks - base_ticks_;
    const uint64_t duration = ticks - begin_ticks;
    if (cursorWords(cursor) + kEndWords > end_words_ || (delta | duration) >> 32 != 0) [[unlikely]] return false;
    uint32_t* const at = reinterpret_cast<uint32_t*>(block) + cursorWords(cursor);
    at[0] = head;
    at[1] = static_cast<uint32_t>(delta);
    at[2] = static_cast<uint32_t>(duration);
    publish(block, cursor + cursorStep(kEndWords, 0));
    return true;
  }

  // Room for `words` words of records around `now`; takes a block or a new time base where needed. False: no room, why() says it.
  bool ensure(uint32_t words, uint64_t now) noexcept {
    const auto cursor = static_cast<uint32_t>(block()->cursor.load(std::memory_order_relaxed));
    if (cursorWords(cursor) + words <= end_words_ && now - base_ticks_ <= kLastSafeDelta) [[likely]] return true;
    return grow(words, now);
  }
  LossCause why() const noexcept { return why_; }

  // After ensure(): the words go in, then one publish() makes them all visible.
  uint32_t* next() noexcept {
    BlockHeader* const at = block();
    return reinterpret_cast<uint32_t*>(at) + cursorWords(static_cast<uint32_t>(at->cursor.load(std::memory_order_relaxed)));
  }
  uint32_t delta(uint64_t ticks) const noexcept { return static_cast<uint32_t>(ticks - base_ticks_); }
  void commit(uint32_t words, uint32_t begins) noexcept {
    BlockHeader* const at = block();
    publish(at, static_cast<uint32_t>(at->cursor.load(std::memory_order_relaxed)) + cursorStep(words, begins));
  }
  // Id of the scope that begins next in this block.
  uint64_t nextId() const noexcept;

  // A whole end, in any size; counts it where it cannot be written.
  void putEnd(uint32_t site, uint64_t begin_ticks, uint64_t ticks) noexcept;

  void countDrop(LossCause cause, uint64_t amount = 1) noexcept;
  void countExtraDrop() noexcept;
  // A scope that arrived in a signal handler while this writer was at work; counted where no lock is needed, booked later.
  void noteReentrant() noexcept { reentrant_.store(reentrant_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void bookReentrant() noexcept;

 private:
  static constexpr uint64_t kLastSafeDelta = 0xF0000000;

  static void publish(BlockHeader* block, uint32_t cursor) noexcept {
    block->cursor.store(packCursor(cursor), std::memory_order_release);
  }
  bool grow(uint32_t words, uint64_t now) noexcept;
  void leaveBlock() noexcept;
  void openSegment(uint64_t now) noexcept;
  ThreadDropsRecord* drops() noexcept;

  std::atomic<BlockHeader*> block_{&no_block};
  uint64_t base_ticks_ = 0;
  uint32_t end_words_ = 0;
  uint32_t since_epoch_ = 0;

  uint64_t begins_before_ = 0;  // scopes begun in earlier segments
  uint64_t id_base_ = 0;        // id of the first scope of this segment
  uint64_t id_limit_ = 0;
  uint32_t segment_begins_ = 0;  // what the block's count was when the segment was opened
  uint32_t segment_number_ = 0;
  uint32_t level_ = 0;
  LossCause why_ = LossCause::cap_reached;
  Sink* sink_ = nullptr;
  ThreadRecord* thread_ = nullptr;
  ThreadDropsRecord* drops_ = nullptr;
  std::atomic<uint32_t> reentrant_{0};
};

}  // namespace xsigma::profiler::capture
