// A memory profile as one page that needs nothing else: a picture, who held what at the peak, what was not released.
#pragma once

#include "base/output_file.h"
#include "xsigma/profiler/memory_profile.h"

namespace xsigma::profiler::analysis {

Status writeMemoryHtml(const MemoryProfile& profile, base::OutputFile& file);

}  // namespace xsigma::profiler::analysis
