// Memory for what lives as long as the process: straight from the system, so that it may be had inside a signal handler.
#pragma once

#include <cstddef>

namespace xsigma::profiler::base {

// Zeroed bytes that are never given back; null when the system has none. One caller at a time; no malloc, no lock.
void* allocateForever(size_t bytes, size_t alignment = alignof(std::max_align_t)) noexcept;

}  // namespace xsigma::profiler::base
