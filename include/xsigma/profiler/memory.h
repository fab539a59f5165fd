// Memory reporting: what an allocator tells the profiler. Reporting allocators and memory profiles come with it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xsigma/profiler/device.h"
#include "xsigma/profiler/export.h"

namespace xsigma::profiler {

// One allocation (bytes > 0) or release (bytes < 0) at ptr, with the allocator's totals after it. Recorded on the calling thread, in the
// scope that is open there. Costs a relaxed load while nothing records. Report an allocation after it was made and a release before it is
// done, so that an address is never reported twice at once; reallocating is a release and an allocation.
XSIGMA_PROFILER_API void reportMemoryUsage(void* ptr, int64_t bytes, size_t total_allocated, size_t total_reserved,
                                           Device device = {DeviceType::CPU, -1}) noexcept;

// An allocation that failed.
XSIGMA_PROFILER_API void reportOutOfMemory(int64_t bytes, size_t total_allocated, size_t total_reserved, Device device) noexcept;

}  // namespace xsigma::profiler

#include "xsigma/profiler/memory_category.h"
#include "xsigma/profiler/memory_profile.h"
#include "xsigma/profiler/reporting_allocator.h"
