// Memory that reports itself: a counter, a std::pmr::memory_resource and an allocator for containers.
// One layer of them: of memory that passes through two, each reports it, and where both give out one address (a pool between them does that)
// the second report reads as an allocation in a place still taken. Put the one that reports where the program asks, and nothing below it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>

#include "xsigma/profiler/device.h"
#include "xsigma/profiler/export.h"
#include "xsigma/profiler/scope.h"

namespace xsigma::profiler {

// How many bytes are allocated, always, and a report of every change while somebody records. Any thread may call it; while nothing records,
// a call is one atomic addition. For allocators of your own: `allocated` after the memory was got, `released` before it is given back.
class XSIGMA_PROFILER_API MemoryCounter {
 public:
  explicit MemoryCounter(Device device = {}) noexcept : device_(device) {}
  MemoryCounter(const MemoryCounter&) = delete;
  MemoryCounter& operator=(const MemoryCounter&) = delete;

  void allocated(const void* address, size_t bytes) noexcept {
    const uint64_t total = total_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (detail::anyoneListens()) reportAllocated(address, bytes, total);
  }
  void released(const void* address, size_t bytes) noexcept {
    const uint64_t total = total_.fetch_sub(bytes, std::memory_order_relaxed) - bytes;
    if (detail::anyoneListens()) reportReleased(address, bytes, total);
  }
  // So many bytes were asked for and not to be had.
  void refused(size_t bytes) noexcept;

  uint64_t total() const noexcept { return total_.load(std::memory_order_relaxed); }
  Device device() const noexcept { return device_; }

  // The one of allocators that were given none. Never destroyed.
  static MemoryCounter& ofProcess() noexcept;

 private:
  void reportAllocated(const void* address, size_t bytes, uint64_t total) const noexcept;
  void reportReleased(const void* address, size_t bytes, uint64_t total) const noexcept;

  std::atomic<uint64_t> total_{0};
  Device device_;
};

// Takes memory from another resource and reports it: std::pmr::vector<int> v(&resource). Where the other one has none left, that is reported
// as out of memory, and its std::bad_alloc goes on to the caller.
class XSIGMA_PROFILER_API ReportingResource : public std::pmr::memory_resource {
 public:
  explicit ReportingResource(std::pmr::memory_resource* upstream = std::pmr::get_default_resource(), Device device = {}) noexcept
      : upstream_(upstream), counter_(device) {}
  ~ReportingResource() override;
  ReportingResource(const ReportingResource&) = delete;
  ReportingResource& operator=(const ReportingResource&) = delete;

  uint64_t total() const noexcept { return counter_.total(); }
  std::pmr::memory_resource* upstream() const noexcept { return upstream_; }

 protected:
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* address, size_t bytes, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;

 private:
  std::pmr::memory_resource* upstream_;
  MemoryCounter counter_;
};

// Takes memory from another allocator and reports it to a counter, which several containers may share and which must outlive them:
// std::vector<int, ReportingAllocator<int>> v(counter). Goes along when a container is moved or swapped, if the other allocator allows it.
template <class T, class Upstream = std::allocator<T>>
class ReportingAllocator {
  using Traits = std::allocator_traits<Upstream>;
  static_assert(std::is_same_v<typename Traits::value_type, T>, "Upstream must be an allocator of T");

 public:
  using value_type = T;
  using pointer = typename Traits::pointer;
  using const_pointer = typename Traits::const_pointer;
  using size_type = typename Traits::size_type;
  using difference_type = typename Traits::difference_type;
  using is_always_equal = std::false_type;
  using propagate_on_container_copy_assignment = typename Traits::propagate_on_container_copy_assignment;
  using propagate_on_container_move_assignment =
      std::bool_constant<Traits::propagate_on_container_move_assignment::value || Traits::is_always_equal::value>;
  using propagate_on_container_swap = std::bool_constant<Traits::propagate_on_container_swap::value || Traits::is_always_equal::value>;
  template <class U>
  struct rebind {
    using other = ReportingAllocator<U, typename Traits::template rebind_alloc<U>>;
  };

  ReportingAllocator() noexcept : ReportingAllocator(MemoryCounter::ofProcess()) {}
  ReportingAllocator(MemoryCounter& counter, Upstream upstream = Upstream()) noexcept
      : upstream_(std::move(upstream)), counter_(&counter) {}
  template <class U, class Other>
  ReportingAllocator(const ReportingAllocator<U, Other>& other) noexcept : upstream_(other.upstream()), counter_(&other.counter()) {}

  pointer allocate(size_type count) {
    pointer place;
    try {
      place = Traits::allocate(upstream_, count);
    } catch (const std::bad_alloc&) {
      counter_->refused(count > SIZE_MAX / sizeof(T) ? SIZE_MAX : count * sizeof(T));
      throw;
    }
    counter_->allocated(addressOf(place), count * sizeof(T));
    return place;
  }
  void deallocate(pointer place, size_type count) noexcept {
    counter_->released(addressOf(place), count * sizeof(T));
    Traits::deallocate(upstream_, place, count);
  }
  size_type max_size() const noexcept { return Traits::max_size(upstream_); }
  // As the other allocator does it: some give elements an allocator of their own.
  template <class U, class... Args>
  auto construct(U* place, Args&&... args) -> decltype(Traits::construct(std::declval<Upstream&>(), place, std::forward<Args>(args)...)) {
    Traits::construct(upstream_, place, std::forward<Args>(args)...);
  }
  template <class U>
  void destroy(U* place) {
    Traits::destroy(upstream_, place);
  }
  ReportingAllocator select_on_container_copy_construction() const {
    return {*counter_, Traits::select_on_container_copy_construction(upstream_)};
  }

  MemoryCounter& counter() const noexcept { return *counter_; }
  const Upstream& upstream() const noexcept { return upstream_; }

  template <class U, class Other>
  bool operator==(const ReportingAllocator<U, Other>& other) const noexcept {
    return counter_ == &other.counter() && upstream_ == Upstream(other.upstream());
  }
  template <class U, class Other>
  bool operator!=(const ReportingAllocator<U, Other>& other) const noexcept {
    return !(*this == other);
  }

 private:
  static const void* addressOf(const pointer& place) noexcept {
    if constexpr (std::is_pointer_v<pointer>) {
      return place;
    } else {
      return std::addressof(*place);
    }
  }

  Upstream upstream_;
  MemoryCounter* counter_;
};

}  // namespace xsigma::profiler
