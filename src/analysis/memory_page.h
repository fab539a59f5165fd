// The parts of a memory page that are the same for every profile.
#pragma once

namespace xsigma::profiler::analysis {

extern const char kPageStyle[];
extern const char kPageScript[];

}  // namespace xsigma::profiler::analysis
