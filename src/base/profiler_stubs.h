// What stands in for CUDA methods that nobody has registered.
#pragma once

#include "xsigma/profiler/profiler_stubs.h"

namespace xsigma::profiler::base {

// The library's own, from now on; a user's go before them.
void provideCudaStubs(const ProfilerStubs* stubs) noexcept;

}  // namespace xsigma::profiler::base
