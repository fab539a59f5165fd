// BufferPool: the memory that records travel in, from CUPTI's threads to the worker. Taking and handing in neither lock nor allocate.
//
//   free (a bit each) ──take──► CUPTI fills it ──complete──► stack of the full ──takeCompleted──► the worker reads it ──giveBack──► free
//
// There is one for the process, and it is never unmapped: a late callback finds it whatever has ended in between. Between runs the pages are the system's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "xsigma/profiler/status.h"

namespace xsigma::profiler::backends::cupti {

class BufferPool {
 public:
  // CUPTI wants a buffer for each thread that calls CUDA, so there are many small ones; the switch from one to the next costs less than 0.1 % at 1 MiB
  // (some 4,000 launches).
  static constexpr size_t kLargestBuffer = size_t{1} << 20;
  static constexpr size_t kSmallestBuffer = size_t{64} << 10;
  static constexpr size_t kMostBuffers = 4096;

  struct Completed {
    uint8_t* memory = nullptr;
    size_t valid = 0;
    uint32_t slot = 0;
  };

  static BufferPool& ofProcess();

  BufferPool() = default;
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // Makes at most so much memory ready, zero, and the pages of the first buffers there. Not while a run is on. Buffers that are still out stay what they are.
  Status prepare(size_t bytes);
  // Fetches the pages of the others: on a thread of ours, while the first ones are used.
  void fetchPages() noexcept;
  // The pages of what is free go back to the system.
  void release() noexcept;

  // Any thread, at any time. Null: there is none, and CUPTI drops records until there is one again.
  uint8_t* take() noexcept;
  size_t bufferBytes() const noexcept { return buffer_bytes_.load(std::memory_order_relaxed); }
  // A buffer that take() gave comes back, with so many bytes of records. False: it is none of ours.
  bool complete(uint8_t* memory, size_t valid) noexcept;

  // The worker: everything that has been completed, oldest first.
  void takeCompleted(std::vector<Completed>& out);
  // Zeroed, for CUPTI need not do it on the program's thread then.
  void giveBack(const Completed& buffer) noexcept;
  // After CUPTI has let go of everything: what is still out will not come back.
  void reclaim() noexcept;

  // Buffers that CUPTI has, or that wait for the worker.
  uint32_t outstanding() const noexcept { return outstanding_.load(std::memory_order_acquire); }
  // How often there was none to give, since prepare().
  uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr size_t kWords = kMostBuffers / 64;

  struct Slot {
    std::atomic<uint32_t> next{kNone};
    std::atomic<bool> out{false};
    size_t valid = 0;
  };

  // From one buffer to the next it is always as far as the largest would need.
  uint8_t* memoryOf(uint32_t slot) const noexcept { return base_.load(std::memory_order_relaxed) + slot * kLargestBuffer; }

  void* mapped_ = nullptr;
  std::atomic<uint8_t*> base_{nullptr};  // in it, where huge pages begin
  size_t reserved_ = 0;                  // bytes of address space from base_ on
  size_t usable_ = 0;                    // … of which so many may be written
  std::atomic<size_t> buffer_bytes_{0};  // what CUPTI is told of each
  uint32_t slots_ = 0;
  std::array<std::atomic<uint64_t>, kWords> free_{};
  std::array<Slot, kMostBuffers> table_{};
  std::atomic<uint32_t> completed_{kNone};
  std::atomic<uint32_t> outstanding_{0};
  std::atomic<uint64_t> refused_{0};
};

}  // namespace xsigma::profiler::backends::cupti
