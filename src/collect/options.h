// CaptureOptions as they count: the environment goes before the program.
#pragma once

#include "xsigma/profiler/capture.h"

namespace xsigma::profiler::collect {

Expected<CaptureOptions> withEnvironment(CaptureOptions options);
// What cannot be honoured, before anything is created.
Status checkOptions(const CaptureOptions& options);

}  // namespace xsigma::profiler::collect
