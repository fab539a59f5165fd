// Which names somebody may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xsigma::profiler::backends::cupti {

// At most `count` of the names, the nearest first: by the number of letters to change, among names of the same beginning first.
std::vector<std::string> nearNames(std::string_view wanted, const std::vector<std::string>& names, size_t count);

}  // namespace xsigma::profiler::backends::cupti
