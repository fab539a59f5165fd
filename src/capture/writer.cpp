#include "capture/writer.h"

#include <cstring>

#include "base/checksum.h"
#include "capture/sink.h"

namespace xsigma::profiler::capture {

constinit BlockHeader no_block{kBlockMagic, BlockType::data, 0, 0, 0, packCursor(0), 0};

namespace {

void addOwn(std::atomic<uint64_t>& counter, uint64_t amount) noexcept {
  counter.store(base::packChecked(base::unpackChecked(counter.load(std::memory_order_relaxed)) + amount), std::memory_order_relaxed);
}

uint32_t begunIn(const BlockHeader& block) noexcept {
  return cursorBegins(static_cast<uint32_t>(block.cursor.load(std::memory_order_relaxed)));
}

}  // namespace

void Writer::attach(Sink& sink, ThreadRecord* thread, uint32_t since_epoch) noexcept {
  detach();
  sink_ = &sink;
  thread_ = thread;
  since_epoch_ = since_epoch;
}

void Writer::detach() noexcept {
  block_.store(&no_block, std::memory_order_relaxed);
  base_ticks_ = 0;
  end_words_ = 0;
  begins_before_ = 0;
  id_base_ = id_limit_ = 0;
  segment_begins_ = segment_number_ = level_ = 0;
  sink_ = nullptr;
  thread_ = nullptr;
  drops_ = nullptr;
  reentrant_.store(0, std::memory_order_relaxed);
}

void Writer::release() noexcept {
  if (sink_ != nullptr) {
    bookReentrant();
    leaveBlock();
  }
  detach();
}

void Writer::leaveBlock() noexcept {
  BlockHeader* const left = block();
  if (left == &no_block) return;
  begins_before_ += begunIn(*left) - segment_begins_;
  thread_->begins_closed.store(base::packChecked(begins_before_), std::memory_order_relaxed);
  id_base_ += begunIn(*left) - segment_begins_;
  block_.store(&no_block, std::memory_order_relaxed);
  end_words_ = 0;
  segment_begins_ = 0;
  sink_->pool().giveBack(left);
}

bool Writer::grow(uint32_t words, uint64_t now) noexcept {
  if (sink_ == nullptr || thread_ == nullptr) return false;
  bookReentrant();
  const bool stale_base = block() != &no_block && now - base_ticks_ > kLastSafeDelta;
  if (!(stale_base && roomInBlock(*block()) >= words + kSegmentWords)) {
    leaveBlock();
    if (!sink_->pool().takeData(block_, level_, words + kSegmentWords, why_)) return false;
    ++level_;
    end_words_ = blockWords(*block());
    segment_begins_ = begunIn(*block());
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
  BlockHeader* const at = block();
  const uint32_t begun = begunIn(*at) - segment_begins_;
  begins_before_ += begun;
  id_base_ += begun;
  segment_begins_ = begunIn(*at);
  const uint32_t most_begins = (roomInBlock(*at) - kSegmentWords) / kBeginWords;
  if (id_limit_ - id_base_ < most_begins || id_base_ == 0) {
    id_base_ = sink_->drawIds(most_begins);
    id_limit_ = id_base_ + most_begins;
  }
  base_ticks_ = now;
  SegmentRecord segment{sizedHead(Code::segment, kSegmentWords),
                        thread_->index,
                        segment_number_++,
                        static_cast<uint32_t>(now),
                        static_cast<uint32_t>(now >> 32),
                        static_cast<uint32_t>(begins_before_),
                        static_cast<uint32_t>(begins_before_ >> 32),
                        static_cast<uint32_t>(id_base_),
                        static_cast<uint32_t>(id_base_ >> 32),
                        0};
  segment.crc = base::crc32(&segment, offsetof(SegmentRecord, crc));
  std::memcpy(next(), &segment, sizeof segment);
  commit(kSegmentWords, 0);
}

uint64_t Writer::nextId() const noexcept { return id_base_ + begunIn(*block()) - segment_begins_; }

void Writer::putEnd(uint32_t site, uint64_t begin_ticks, uint64_t ticks) noexcept {
  if (!ensure(kEndLongWords, ticks)) return countExtraDrop();
  if (tryEnd(siteHead(Code::end, site), begin_ticks, ticks)) return;
  const uint64_t duration = ticks - begin_ticks;
  uint32_t* const at = next();
  at[0] = siteHead(Code::end_long, site);
  at[1] = delta(ticks);
  at[2] = static_cast<uint32_t>(duration);
  at[3] = static_cast<uint32_t>(duration >> 32);
  commit(kEndLongWords, 0);
}

ThreadDropsRecord* Writer::drops() noexcept {
  if (drops_ == nullptr && thread_ != nullptr) drops_ = sink_->addThreadDrops(thread_->index);
  return drops_;
}

void Writer::countDrop(LossCause cause, uint64_t amount) noexcept {
  if (ThreadDropsRecord* const own = drops()) {
    addOwn(own->causes[static_cast<size_t>(cause)], amount);
  } else if (sink_ != nullptr) {
    sink_->countDrop(cause, amount);
  }
}

void Writer::bookReentrant() noexcept {
  const uint32_t count = reentrant_.exchange(0, std::memory_order_relaxed);
  if (count != 0) countDrop(LossCause::reentrant, count);
}

void Writer::countExtraDrop() noexcept {
  if (ThreadDropsRecord* const own = drops()) {
    addOwn(own->extras, 1);
  } else if (sink_ != nullptr) {
    sink_->count(kHeaderExtrasDropped);
  }
}

}  // namespace xsigma::profiler::capture
