// Who else may be using CUPTI in this process: it serves one at a time.
#pragma once

#include <string>

namespace xsigma::profiler::backends::cupti {

// A sentence that names them; "" when nothing points to anybody.
std::string likelyHolders();

}  // namespace xsigma::profiler::backends::cupti
