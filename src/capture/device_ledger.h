// Counts what devices were asked for, and what the capture has of it.
#pragma once

#include "capture/source.h"
#include "xsigma/profiler/ledger.h"

namespace xsigma::profiler::capture {

DeviceLedger countDevices(const Capture::Source& source);

}  // namespace xsigma::profiler::capture
