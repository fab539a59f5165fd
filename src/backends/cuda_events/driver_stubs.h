// Events of NVIDIA's driver, which is opened at run time.
#pragma once

#include "xsigma/profiler/status.h"

namespace xsigma::profiler::backends::cuda_events {

// Makes the driver's events what cudaStubs() gives where nobody has registered others. An error says why there are none.
Status provideDriverStubs();

}  // namespace xsigma::profiler::backends::cuda_events
