// Walks the records of one segment, decoded.
#pragma once

#include <functional>

#include "capture/source.h"
#include "xsigma/profiler/record.h"

namespace xsigma::profiler::capture {

// Payloads that make no sense come out with what could be read of them; nothing is believed beyond the record's own length.
void decodeSegment(const Capture::Source& source, const Segment& segment, const std::function<void(const CaptureRecord&)>& visit);

}  // namespace xsigma::profiler::capture
