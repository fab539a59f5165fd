// Memory in words: sizes, moments, devices, losses.
#pragma once

#include <cstdint>
#include <string>

#include "xsigma/profiler/memory_profile.h"

namespace xsigma::profiler::analysis {

std::string bytesText(uint64_t bytes);  // "1.5 MiB"
std::string timeText(int64_t ns);       // "12.3 ms"
std::string deviceText(Device device);  // "CPU", "CUDA 1"
const char* deviceTypeText(DeviceType type);
// "1,234 allocations", "1 allocation"
std::string countText(uint64_t count, const char* thing);
// Of a device on which no allocation was seen: what was seen there. "2 allocations that failed and 3 releases"
std::string insteadText(const MemoryDevice& device);
// Of releases that match no allocation, and of allocations that match no release: how many, and what that means. "" if there are none.
std::string unknownText(const MemoryDevice& device);
std::string replacedText(const MemoryDevice& device);
// What is missing, in a sentence; "" if nothing is.
std::string lossText(const MemoryProfile& profile);
inline constexpr char kNobodyReported[] =
    "Nobody reported memory. Use ReportingResource or ReportingAllocator, or call reportMemoryUsage from your allocator.";

}  // namespace xsigma::profiler::analysis
