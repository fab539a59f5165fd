#include "capture/writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checksum.h"
#include "capture/sink.h"

namespace xsigma::profiler::capture {

constinit BlockHeader no_block{kBlockMagic, BlockType::data, 0, 0, 0, packCursor(0xFFFF), 0};

namespace {

void bumpOwn(std::atomic<uint64_t>& counter) noexcept {
  counter.store(base::packChecked(base::unpackChecked(counter.load(std::memory_order_relaxed)) + 1), std::memory_order_relaxed);
}

}  // namespace

void Writer::attach(Sink& sink, ThreadRecord* thread, uint32_t since_epoch) noexcept {
  detach();
  sink_ = &sink;
  thread_ = thread;
  since_epoch_ = since_epoch;
}

void Writer::detach() noexcept {
  forgetBlock();
  base_ticks_ = window_ = begins_from_ = 0;
  begins_before_ = 0;
  id_base_ = id_limit_ = id_offset_ = 0;
  segment_begins_ = segment_number_ = level_ = 0;
  sink_ = nullptr;
  thread_ = nullptr;
  drops_ = nullptr;
  reentrant_.store(0, std::memory_order_relaxed);
  reentrant_marks_.store(0, std::memory_order_relaxed);
}

void Writer::release() noexcept {
  if (sink_ != nullptr) {
    bookReentrant();
    leaveBlock();
  }
  detach();
}

void Writer::swapWith(Writer& other) noexcept {
  const auto swapAtomic = [](auto& a, auto& b) { a.store(b.exchange(a.load(std::memory_order_relaxed), std::memory_order_relaxed), std::memory_order_relaxed); };
  swapAtomic(block_, other.block_);
  swapAtomic(reentrant_, other.reentrant_);
  swapAtomic(reentrant_marks_, other.reentrant_marks_);
  std::swap(cursor_, other.cursor_);
  std::swap(base_ticks_, other.base_ticks_);
  std::swap(window_, other.window_);
  std::swap(begins_from_, other.begins_from_);
  std::swap(quick_limit_, other.quick_limit_);
  std::swap(end_words_, other.end_words_);
  std::swap(since_epoch_, other.since_epoch_);
  std::swap(begins_before_, other.begins_before_);
  std::swap(id_base_, other.id_base_);
  std::swap(id_limit_, other.id_limit_);
  std::swap(id_offset_, other.id_offset_);
  std::swap(segment_begins_, other.segment_begins_);
  std::swap(segment_number_, other.segment_number_);
  std::swap(level_, other.level_);
  std::swap(why_, other.why_);
  std::swap(sink_, other.sink_);
  std::swap(thread_, other.thread_);
  std::swap(drops_, other.drops_);
}

void Writer::forgetBlock() noexcept {
  block_.store(&no_block, std::memory_order_relaxed);
  cursor_ = packCursor(0xFFFF);  // beyond any limit
  quick_limit_ = 0;
  end_words_ = 0;
}

void Writer::enterBlock() noexcept {
  cursor_ = block()->cursor.load(std::memory_order_relaxed);
  end_words_ = blockWords(*block());
  quick_limit_ = end_words_ - kEndLongWords;
  segment_begins_ = begun();
}

void Writer::leaveBlock() noexcept {
  BlockHeader* const left = block();
  if (left == &no_block) return;
  begins_before_ += begun() - segment_begins_;
  thread_->begins_closed.store(base::packChecked(begins_before_), std::memory_order_relaxed);
  id_base_ += begun() - segment_begins_;
  segment_begins_ = 0;
  forgetBlock();
  sink_->pool().giveBack(left, of_device_);
}

bool Writer::grow(uint32_t words, uint64_t now) noexcept {
  if (sink_ == nullptr || thread_ == nullptr) return false;
  bookReentrant();
  const bool stale_base = block() != &no_block && now >> 32 != window_;
  if (!(stale_base && roomInBlock(*block()) >= words + kSegmentWords)) {
    leaveBlock();
    if (!sink_->pool().takeData(block_, level_, words + kSegmentWords, why_, of_device_)) return false;
    ++level_;
    enterBlock();
    if (roomInBlock(*block()) < words + kSegmentWords) {
      why_ = LossCause::cap_reached;
      leaveBlock();
      return false;
    }
    sink_->tickClock();
  }
  openSegment(now);
  return true;
}

void Writer::openSegment(uint64_t now) noexcept {
  begins_before_ += begun() - segment_begins_;
  id_base_ += begun() - segment_begins_;
  segment_begins_ = begun();
  const uint32_t most_begins = (roomInBlock(*block()) - kSegmentWords) / kBeginWords;
  if (id_limit_ - id_base_ < most_begins || id_base_ == 0) {
    id_base_ = sink_->drawIds(most_begins);
    id_limit_ = id_base_ + most_begins;
  }
  id_offset_ = id_base_ - segment_begins_;
  window_ = now >> 32;
  base_ticks_ = window_ << 32;
  begins_from_ = std::max(segment_number_ == 0 ? now + kTickSlack : begins_from_, base_ticks_);
  SegmentRecord segment{sizedHead(Code::segment, kSegmentWords),
                        thread_->index,
                        segment_number_++,
                        static_cast<uint32_t>(base_ticks_),
                        static_cast<uint32_t>(base_ticks_ >> 32),
                        static_cast<uint32_t>(begins_before_),
                        static_cast<uint32_t>(begins_before_ >> 32),
                        static_cast<uint32_t>(id_base_),
                        static_cast<uint32_t>(id_base_ >> 32),
                        0};
  segment.crc = base::crc32(&segment, offsetof(SegmentRecord, crc));
  std::memcpy(next(), &segment, sizeof segment);
  commit(kSegmentWords, 0);
}

void Writer::putEnd(uint32_t site, uint64_t begin_ticks, uint64_t ticks) noexcept {
  if (!ensure(kEndLongWords, ticks)) return countExtraDrop();
  const uint64_t duration = ticks - begin_ticks;
  const bool is_long = duration >> 32 != 0;
  uint32_t* const at = next();
  at[0] = siteHead(is_long ? Code::end_long : Code::end, site);
  at[1] = delta(ticks);
  at[2] = static_cast<uint32_t>(duration);
  if (is_long) at[3] = static_cast<uint32_t>(duration >> 32);
  commit(is_long ? kEndLongWords : kEndWords, 0);
}

ThreadDropsRecord* Writer::drops() noexcept {
  if (drops_ == nullptr && thread_ != nullptr) drops_ = sink_->addThreadDrops(thread_->index);
  return drops_;
}

void Writer::countDrop(LossCause cause) noexcept {
  if (ThreadDropsRecord* const own = drops()) {
    bumpOwn(own->causes[static_cast<size_t>(cause)]);
  } else if (sink_ != nullptr) {
    sink_->countDrop(cause);
  }
}

// Into a record of its own: whoever stops the recording books for threads that are at work.
void Writer::bookReentrant() noexcept {
  const uint32_t scopes = reentrant_.exchange(0, std::memory_order_relaxed);
  const uint32_t marks = reentrant_marks_.exchange(0, std::memory_order_relaxed);
  if (scopes == 0 && marks == 0) return;
  if (ThreadDropsRecord* const record = thread_ != nullptr ? sink_->addThreadDrops(thread_->index) : nullptr) {
    record->causes[static_cast<size_t>(LossCause::reentrant)].store(base::packChecked(scopes), std::memory_order_relaxed);
    record->extras.store(base::packChecked(marks), std::memory_order_relaxed);
  } else {
    sink_->countDrop(LossCause::reentrant, scopes);
    sink_->count(kHeaderExtrasDropped, marks);
  }
}

void Writer::countExtraDrop() noexcept {
  if (ThreadDropsRecord* const own = drops()) {
    bumpOwn(own->extras);
  } else if (sink_ != nullptr) {
    sink_->count(kHeaderExtrasDropped);
  }
}

}  // namespace xsigma::profiler::capture
