#include "backends/cupti/buffer_pool.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace xsigma::profiler::backends::cupti {
namespace {

#ifndef MADV_POPULATE_WRITE
constexpr int kPopulateWrite = 23;
#else
constexpr int kPopulateWrite = MADV_POPULATE_WRITE;
#endif

constexpr size_t kAddressSpace = size_t{4} << 30;

constexpr size_t kHugePage = size_t{2} << 20;
// So many buffers have their pages when a run begins. The rest takes milliseconds, and nobody waits for it.
constexpr uint32_t kFirstBuffers = 8;

// Fetches pages without touching what is in them. False: the kernel is too old for that.
bool fetch(uint8_t* memory, size_t bytes) noexcept { return madvise(memory, bytes, kPopulateWrite) == 0; }

}  // namespace

BufferPool& BufferPool::ofProcess() {
  static BufferPool& pool = *new BufferPool;
  return pool;
}

BufferPool::~BufferPool() {
  if (mapped_ != nullptr) munmap(mapped_, reserved_ + kHugePage);
}

Status BufferPool::prepare(size_t bytes) {
  if (base_.load(std::memory_order_relaxed) == nullptr) {
    // Address space costs nothing; less of it where the process is limited.
    for (size_t wanted = kAddressSpace; wanted >= kLargestBuffer; wanted /= 2) {
      void* const mapped = mmap(nullptr, wanted + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (mapped == MAP_FAILED) continue;
      reserved_ = wanted;
      mapped_ = mapped;
      const auto address = reinterpret_cast<uintptr_t>(mapped);
      base_.store(static_cast<uint8_t*>(mapped) + (kHugePage - address % kHugePage) % kHugePage, std::memory_order_release);
      break;
    }
    if (base_.load(std::memory_order_relaxed) == nullptr) {
      return {StatusCode::io_error, fmt::format("no memory for device records: {}", std::strerror(errno))};
    }
  }
  uint8_t* const base = base_.load(std::memory_order_relaxed);
  // 64 buffers at least, unless they would become too small to be worth their switches.
  const size_t buffer = std::clamp(std::bit_floor(bytes / 64), kSmallestBuffer, kLargestBuffer);
  const size_t count = std::clamp<size_t>(bytes / buffer, 2, reserved_ / kLargestBuffer);
  if (count * kLargestBuffer > usable_) {
    if (mprotect(base + usable_, count * kLargestBuffer - usable_, PROT_READ | PROT_WRITE) != 0) {
      return {StatusCode::io_error, fmt::format("no memory for {} of device records: {}", count * buffer, std::strerror(errno))};
    }
    usable_ = count * kLargestBuffer;
    if (buffer == kLargestBuffer) madvise(base, usable_, MADV_HUGEPAGE);
  }
  buffer_bytes_.store(buffer, std::memory_order_relaxed);
  slots_ = static_cast<uint32_t>(count);
  refused_.store(0, std::memory_order_relaxed);
  std::array<uint64_t, kWords> ready{};
  for (uint32_t slot = 0; slot < slots_; ++slot) {
    if (table_[slot].out.load(std::memory_order_acquire)) continue;
    if (slot < kFirstBuffers && !fetch(memoryOf(slot), buffer)) std::memset(memoryOf(slot), 0, buffer);
    ready[slot / 64] |= uint64_t{1} << (slot % 64);
  }
  for (size_t word = 0; word < kWords; ++word) free_[word].store(ready[word], std::memory_order_release);
  return {};
}

void BufferPool::fetchPages() noexcept {
  for (uint32_t slot = kFirstBuffers; slot < slots_; ++slot) {
    if (!fetch(memoryOf(slot), bufferBytes())) return;  // whoever writes there first fetches them
  }
}

void BufferPool::release() noexcept {
  for (uint32_t slot = 0; slot < slots_; ++slot) {
    const uint64_t bit = uint64_t{1} << (slot % 64);
    if ((free_[slot / 64].fetch_and(~bit, std::memory_order_acq_rel) & bit) == 0) continue;
    madvise(memoryOf(slot), kLargestBuffer, MADV_DONTNEED);
  }
}

uint8_t* BufferPool::take() noexcept {
  for (size_t word = 0; word < kWords; ++word) {
    uint64_t bits = free_[word].load(std::memory_order_acquire);
    while (bits != 0) {
      const int bit = std::countr_zero(bits);
      const uint64_t mask = uint64_t{1} << bit;
      if ((free_[word].fetch_and(~mask, std::memory_order_acq_rel) & mask) != 0) {
        const auto slot = static_cast<uint32_t>(word * 64 + static_cast<size_t>(bit));
        table_[slot].out.store(true, std::memory_order_release);
        outstanding_.fetch_add(1, std::memory_order_acq_rel);
        return memoryOf(slot);
      }
      bits = free_[word].load(std::memory_order_acquire);
    }
  }
  refused_.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

bool BufferPool::complete(uint8_t* memory, size_t valid) noexcept {
  uint8_t* const base = base_.load(std::memory_order_acquire);
  if (memory == nullptr || base == nullptr || memory < base) return false;
  const auto offset = static_cast<size_t>(memory - base);
  if (offset >= reserved_ || offset % kLargestBuffer != 0) return false;
  const auto index = static_cast<uint32_t>(offset / kLargestBuffer);
  Slot& slot = table_[index];
  if (!slot.out.load(std::memory_order_acquire)) return false;
  slot.valid = std::min(valid, kLargestBuffer);
  uint32_t top = completed_.load(std::memory_order_relaxed);
  do {
    slot.next.store(top, std::memory_order_relaxed);
  } while (!completed_.compare_exchange_weak(top, index, std::memory_order_release, std::memory_order_relaxed));
  return true;
}

void BufferPool::takeCompleted(std::vector<Completed>& out) {
  uint32_t slot = completed_.exchange(kNone, std::memory_order_acquire);
  const size_t before = out.size();
  while (slot != kNone) {
    out.push_back({memoryOf(slot), table_[slot].valid, slot});
    slot = table_[slot].next.load(std::memory_order_relaxed);
  }
  std::reverse(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
}

void BufferPool::giveBack(const Completed& buffer) noexcept {
  // CUPTI may write past what it calls valid.
  std::memset(buffer.memory, 0, bufferBytes());
  table_[buffer.slot].out.store(false, std::memory_order_release);
  outstanding_.fetch_sub(1, std::memory_order_acq_rel);
  if (buffer.slot < slots_) free_[buffer.slot / 64].fetch_or(uint64_t{1} << (buffer.slot % 64), std::memory_order_release);
}

void BufferPool::reclaim() noexcept {
  completed_.store(kNone, std::memory_order_release);
  for (uint32_t slot = 0; slot < kMostBuffers; ++slot) {
    if (table_[slot].out.exchange(false, std::memory_order_acq_rel)) madvise(memoryOf(slot), kLargestBuffer, MADV_DONTNEED);
  }
  outstanding_.store(0, std::memory_order_release);
}

}  // namespace xsigma::profiler::backends::cupti
