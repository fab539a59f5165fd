#include "range_pool.h"

namespace xsigma::profiler::backends::cuda_events {
namespace {

constexpr uint64_t kPlaceMask = 0xffffffffu;
constexpr uint64_t kChange = uint64_t{1} << 32;

}  // namespace

RangePool& RangePool::instance() {
  static auto& pool = *new RangePool;
  return pool;
}

RangePool::RangePool() : ranges_(std::make_unique<Range[]>(kRanges)) {
  for (uint32_t i = 0; i + 1 < kRanges; ++i) ranges_[i].next = i + 2;
  free_.store(1, std::memory_order_release);
}

Range* RangePool::take() noexcept {
  uint64_t head = free_.load(std::memory_order_acquire);
  while ((head & kPlaceMask) != 0) {
    Range& range = at(static_cast<uint32_t>(head & kPlaceMask));
    const uint64_t rest = range.next.load(std::memory_order_relaxed);  // another thread may take it meanwhile: then the exchange fails
    if (free_.compare_exchange_weak(head, ((head & ~kPlaceMask) + kChange) | rest, std::memory_order_acq_rel)) {
      range.holders.store(1, std::memory_order_relaxed);
      return &range;
    }
  }
  return nullptr;
}

void RangePool::release(Range& range) noexcept {
  if (range.holders.fetch_sub(1, std::memory_order_acq_rel) == 1) giveBack(range);
}

void RangePool::giveBack(Range& range) noexcept {
  uint64_t head = free_.load(std::memory_order_relaxed);
  do {
    range.next.store(static_cast<uint32_t>(head & kPlaceMask), std::memory_order_relaxed);
  } while (!free_.compare_exchange_weak(head, ((head & ~kPlaceMask) + kChange) | placeOf(range), std::memory_order_acq_rel));
}

void RangePool::dropEvents() noexcept {
  uint32_t taken = 0;
  while (Range* const range = take()) {
    range->begun.reset();
    range->ended.reset();
    range->next = taken;
    taken = placeOf(*range);
  }
  while (taken != 0) {
    Range& range = at(taken);
    taken = range.next;
    giveBack(range);
  }
}

void EndedRanges::push(Range& range) noexcept {
  range.holders.fetch_add(1, std::memory_order_relaxed);
  const uint32_t place = RangePool::instance().placeOf(range);
  uint32_t last = last_.load(std::memory_order_relaxed);
  do {
    range.next = last;
  } while (!last_.compare_exchange_weak(last, place, std::memory_order_release));
}

uint32_t EndedRanges::takeAll() noexcept {
  uint32_t newest_first = last_.exchange(0, std::memory_order_acquire);
  uint32_t oldest_first = 0;
  while (newest_first != 0) {
    Range& range = RangePool::instance().at(newest_first);
    const uint32_t place = newest_first;
    newest_first = range.next;
    range.next = oldest_first;
    oldest_first = place;
  }
  return oldest_first;
}

}  // namespace xsigma::profiler::backends::cuda_events
