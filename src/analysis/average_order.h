// The order in which rows of the averages are shown.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/key_averages.h"

namespace xsigma::profiler::analysis {

// Throws ProfilerError for a key that there is not. Rows that tie stay in the order in which they first ran.
std::vector<const KeyAverage*> inOrder(const KeyAverages::Contents& contents, std::string_view sort_by);

// "CUDA"; what tables call a device.
std::string_view wordOf(DeviceType device);

// "device" in place of a device's own word: "self_cuda_time_total" -> "self_device_time_total".
std::string withoutDeviceWord(std::string_view key);

}  // namespace xsigma::profiler::analysis
