// ByteBudget: how much memory several may use together.
#pragma once

#include <atomic>
#include <cstddef>

namespace xsigma::profiler::backends::cupti {

// Any thread, at any time.
class ByteBudget {
 public:
  explicit ByteBudget(size_t bytes) : left_(bytes) {}

  // False: there is not that much left, and nothing was taken.
  bool take(size_t bytes) noexcept {
    size_t left = left_.load(std::memory_order_relaxed);
    while (left >= bytes) {
      if (left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  void giveBack(size_t bytes) noexcept { left_.fetch_add(bytes, std::memory_order_relaxed); }
  size_t left() const noexcept { return left_.load(std::memory_order_relaxed); }

 private:
  std::atomic<size_t> left_;
};

}  // namespace xsigma::profiler::backends::cupti
