// Names for traces that nobody named.
#pragma once

#include <string>

namespace xsigma::profiler::profile {

// A random UUID (version 4) as 32 upper-case hexadecimal digits.
std::string randomTraceId();

}  // namespace xsigma::profiler::profile
