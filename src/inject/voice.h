// What an injected session says: to stderr, or not at all.
#pragma once

#include <string>

#include "xsigma/profiler/capture.h"

namespace xsigma::profiler::inject {

// Takes over the log of this copy of the library. XSP_QUIET=1 silences it; otherwise KINETO_LOG_LEVEL (default 0) is the least that is said.
void speak();

// One line about a capture that is complete: what is in it, and where it is. Looks through it for a moment, not longer.
std::string summaryOf(const Capture& capture, const std::string& path);

}  // namespace xsigma::profiler::inject
