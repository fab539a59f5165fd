// Who else may be using CUPTI in this process: it serves one at a time.
#pragma once

#include <string>

#include "backends/cupti/cupti_library.h"

namespace xsigma::profiler::backends::cupti {

// After CUPTI has said that somebody has it: what it calls him, and who in this process may be him; "" when nothing points to anybody.
std::string likelyHolders(const CuptiLibrary& cupti);

}  // namespace xsigma::profiler::backends::cupti
