// A child that records too: its own file, opened at its first scope.
#pragma once

#include "xsigma/profiler/capture.h"

namespace xsigma::profiler::collect {

// Children forked while this session runs go on recording, into NAME.PID.xst.
void followForks(const CaptureOptions& options, uint32_t session);
// "dir/name.xst" → "dir/name.1234.xst"
std::string childPath(const std::string& path, int process_id);

}  // namespace xsigma::profiler::collect
