#include "xsigma/profiler/reporting_allocator.h"

#include <algorithm>

#include "xsigma/profiler/memory.h"

namespace xsigma::profiler {
namespace {

int64_t reportable(size_t bytes) noexcept { return static_cast<int64_t>(std::min(bytes, static_cast<size_t>(INT64_MAX))); }

}  // namespace

void MemoryCounter::reportAllocated(const void* address, size_t bytes, uint64_t total) const noexcept {
  reportMemoryUsage(const_cast<void*>(address), reportable(bytes), total, 0, device_);
}

void MemoryCounter::reportReleased(const void* address, size_t bytes, uint64_t total) const noexcept {
  reportMemoryUsage(const_cast<void*>(address), -reportable(bytes), total, 0, device_);
}

void MemoryCounter::refused(size_t bytes) noexcept { reportOutOfMemory(reportable(bytes), total(), 0, device_); }

MemoryCounter& MemoryCounter::ofProcess() noexcept {
  alignas(MemoryCounter) static char place[sizeof(MemoryCounter)];
  static MemoryCounter& counter = *new (place) MemoryCounter;
  return counter;
}

ReportingResource::~ReportingResource() = default;

void* ReportingResource::do_allocate(size_t bytes, size_t alignment) {
  void* address = nullptr;
  try {
    address = upstream_->allocate(bytes, alignment);
  } catch (const std::bad_alloc&) {
    counter_.refused(bytes);
    throw;
  }
  counter_.allocated(address, bytes);
  return address;
}

void ReportingResource::do_deallocate(void* address, size_t bytes, size_t alignment) {
  counter_.released(address, bytes);
  upstream_->deallocate(address, bytes, alignment);
}

bool ReportingResource::do_is_equal(const std::pmr::memory_resource& other) const noexcept { return this == &other; }

}  // namespace xsigma::profiler
