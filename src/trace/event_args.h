// The args of an event, as Kineto names them.
#pragma once

#include <string>

#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::trace {

// Appends members, each with ", " before it.
void appendArgs(std::string& out, const Trace& trace, const EventDetails& details);
// What memory events have, without anything before it.
void appendMemoryArgs(std::string& out, const TraceEvent& event, const EventDetails& details);

}  // namespace xsigma::profiler::trace
