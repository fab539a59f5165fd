// The text of libkineto's configuration, as far as a trace by hand takes it.
#pragma once

#include <string_view>

#include "xsigma/profiler/observer.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler {

// Lines KEY=VALUE; blank ones and those with # are passed over. An unknown key or a value that makes no sense is an error with its line.
Status applyTraceConfig(std::string_view text, ProfilerConfig& config);

}  // namespace xsigma::profiler
