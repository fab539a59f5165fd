// The arguments of a device event as text: its form, with the values in their places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "capture/tables.h"

namespace xsigma::profiler::assemble {

// Of one event. No backend comes near it; what a capture says may.
inline constexpr size_t kMostArgBytes = 64 * 1024;

// Whether a form is the inside of a JSON object whatever its values are, and leaves alone the keys that are added to it.
bool isSoundForm(std::string_view form);

// The inside of a JSON object, of a sound form. Values that are missing count as 0. What would be longer than `most` ends after the last argument that fits;
// `cut` tells.
std::string deviceArgs(std::string_view form, std::string_view packed_values, int64_t duration_ns, const capture::Tables& tables,
                       size_t most, bool& cut);

}  // namespace xsigma::profiler::assemble
