// Which clock the ticks of a recording come from.
#pragma once

#include "xsigma/profiler/status.h"

namespace xsigma::profiler::collect {

// True where the cycle counter cannot be trusted, or XSIGMA_PROFILER_CLOCK=monotonic asks for the system's clock.
Expected<bool> ticksAreClock();

}  // namespace xsigma::profiler::collect
