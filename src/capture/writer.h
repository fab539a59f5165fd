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
  // The records are of devices: they go on after the threads were stopped.
  void setOfDevice() noexcept { of_device_ = true; }
  // Forgets the sink without touching it.
  void detach() noexcept;
  // Two writers of one thread change places.
  void swapWith(Writer& other) noexcept;
  // The thread goes away: what is left of the block is for the next one.
  void release() noexcept;

  Sink* sink() const noexcept { return sink_; }
  BlockHeader* block() const noexcept { return block_.load(std::memory_order_relaxed); }
  uint32_t sinceEpoch() const noexcept { return since_epoch_; }
  // The address alone does not tell: a new sink may have that of one that is gone.
  bool feeds(const Sink* sink, uint32_t since_epoch) const noexcept { return sink_ == sink && since_epoch_ == since_epoch; }
  uint32_t threadIndex() const noexcept { return thread_ != nullptr ? thread_->index : 0; }

  // The quick way for a plain scope. False when it takes more than a few stores.
  bool tryBegin(uint32_t head, uint64_t& ticks) noexcept {
    const uint64_t cursor = cursor_;
    const size_t at = cursorWords(cursor);
    if (at > quick_limit_) [[unlikely]] return false;
    const base::TickHalves now = base::readTickHalves();
    if (now.high != window_) [[unlikely]] return false;
    BlockHeader* const in = block();
    auto* const words = reinterpret_cast<uint32_t*>(in);
    words[at] = head;
    words[at + 1] = static_cast<uint32_t>(now.low);
    publish(in, cursor + packedStep(kBeginWords, 1));
    ticks = base_ticks_ | now.low;
    return true;
  }
  // Also false for a scope that began before this segment's time base, or so early that it may have begun in another capture.
  bool tryEnd(uint32_t head, uint64_t begin_ticks, base::TickHalves now) noexcept {
    if (now.high != window_ || begin_ticks < begins_from_) [[unlikely]] return false;
    const uint64_t cursor = cursor_;
    size_t at = cursorWords(cursor);
    if (at > quick_limit_) [[unlikely]] return false;
    BlockHeader* const in = block();
    auto* const words = reinterpret_cast<uint32_t*>(in);
    words[at] = head;
    words[at + 1] = static_cast<uint32_t>(now.low);
    asm("" : "+r"(at));  // or the compiler spends an instruction on what these addresses share
    words[at + 2] = static_cast<uint32_t>(now.low) - static_cast<uint32_t>(begin_ticks);
    publish(in, cursor + packedStep(kEndWords, 0));
    return true;
  }

  // Room for `words` words of records at `now`; takes a block or a new time base where needed. False: no room, why() says it.
  bool ensure(uint32_t words, uint64_t now) noexcept {
    if (cursorWords(cursor_) + words <= end_words_ && now >> 32 == window_) [[likely]] return true;
    return grow(words, now);
  }
  LossCause why() const noexcept { return why_; }

  // After ensure(): the words go in, then one commit() makes them all visible.
  uint32_t* next() noexcept { return reinterpret_cast<uint32_t*>(block()) + cursorWords(cursor_); }
  static uint32_t delta(uint64_t ticks) noexcept { return static_cast<uint32_t>(ticks); }
  void commit(uint32_t words, uint32_t begins) noexcept { publish(block(), cursor_ + packedStep(words, begins)); }
  // Id of the scope that begins next in this block.
  uint64_t nextId() const noexcept { return id_offset_ + begun(); }

  // A whole end, in any size; counts it where it cannot be written.
  void putEnd(uint32_t site, uint64_t begin_ticks, uint64_t ticks) noexcept;

  void countDrop(LossCause cause) noexcept;
  void countExtraDrop() noexcept;
  // A scope, or a mark, that arrived in a signal handler while this writer was at work; counted where no lock is needed, booked later.
  void noteReentrant(bool scope) noexcept { (scope ? reentrant_ : reentrant_marks_).fetch_add(1, std::memory_order_relaxed); }
  void bookReentrant() noexcept;

 private:
  static constexpr uint64_t kTickSlack = 4096;  // cores may disagree by a little

  void publish(BlockHeader* block, uint64_t cursor) noexcept {
    cursor_ = cursor;
    block->cursor.store(cursor, std::memory_order_release);
  }
  uint32_t begun() const noexcept { return cursorBegins(cursor_); }
  void enterBlock() noexcept;
  void forgetBlock() noexcept;
  bool grow(uint32_t words, uint64_t now) noexcept;
  void leaveBlock() noexcept;
  void openSegment(uint64_t now) noexcept;
  ThreadDropsRecord* drops() noexcept;

  std::atomic<BlockHeader*> block_{&no_block};
  uint64_t cursor_ = packCursor(0xFFFF);  // the block's, kept at hand
  uint64_t base_ticks_ = 0;   // the low half is zero: a tick less its base is the tick's low half
  uint64_t window_ = 0;       // the high half: ticks with another one need a new base
  size_t quick_limit_ = 0;    // up to this word there is room for any plain record
  uint64_t begins_from_ = 0;  // scopes that began from here on began in this capture, and in this window
  uint32_t end_words_ = 0;
  uint32_t since_epoch_ = 0;

  uint64_t begins_before_ = 0;  // scopes begun in earlier segments
  uint64_t id_base_ = 0;        // id of the first scope of this segment
  uint64_t id_limit_ = 0;
  uint64_t id_offset_ = 0;  // from the block's count to ids
  uint32_t segment_begins_ = 0;  // what the block's count was when the segment was opened
  uint32_t segment_number_ = 0;
  uint32_t level_ = 0;
  bool of_device_ = false;
  LossCause why_ = LossCause::cap_reached;
  Sink* sink_ = nullptr;
  ThreadRecord* thread_ = nullptr;
  ThreadDropsRecord* drops_ = nullptr;
  std::atomic<uint32_t> reentrant_{0};
  std::atomic<uint32_t> reentrant_marks_{0};
};

}  // namespace xsigma::profiler::capture
