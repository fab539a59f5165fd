// The library's voice: warnings to the sink, never from a hot path.
#pragma once

#include <string>

#include "xsigma/profiler/log.h"

namespace xsigma::profiler::base {

void log(LogLevel level, const std::string& message) noexcept;
inline void warn(const std::string& message) noexcept { log(LogLevel::warning, message); }

}  // namespace xsigma::profiler::base
