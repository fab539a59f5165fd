// The arguments of a device event as text: its form, with the values in their places.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "capture/tables.h"

namespace xsigma::profiler::assemble {

// Appends the inside of a JSON object. Values that are missing count as 0.
void appendDeviceArgs(std::string& out, std::string_view form, std::string_view packed_values, int64_t duration_ns, const capture::Tables& tables);

}  // namespace xsigma::profiler::assemble
