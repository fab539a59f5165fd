// What a program can say beside scopes: instants, counters, metadata of the open scope, the thread's name.
#pragma once

#include <cstdint>
#include <string_view>

#include "xsigma/profiler/export.h"

namespace xsigma::profiler {

// A point in time on the calling thread.
XSIGMA_PROFILER_API void recordInstant(std::string_view name) noexcept;
// A sample of a quantity over time.
XSIGMA_PROFILER_API void recordCounter(std::string_view name, double value) noexcept;
// A key and a text for the innermost scope open on the calling thread; without one, for the thread's place in time.
XSIGMA_PROFILER_API void recordMetadata(std::string_view key, std::string_view value) noexcept;

// An operation that begins on one thread and may end on another: the id joins the two ends and is the caller's to choose.
XSIGMA_PROFILER_API void recordAsyncBegin(std::string_view name, uint64_t id) noexcept;
XSIGMA_PROFILER_API void recordAsyncEnd(std::string_view name, uint64_t id) noexcept;

// Names the calling thread in every recording. At most 63 bytes are kept; the system's name is used otherwise.
XSIGMA_PROFILER_API void setThreadName(std::string_view name) noexcept;

}  // namespace xsigma::profiler
