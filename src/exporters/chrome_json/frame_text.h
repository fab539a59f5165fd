// What stands around the events: the keys before them, rows, links and the span after them, the ledger.
#pragma once

#include <string>

#include "xsigma/profiler/exporter.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::exporters::chrome {

// From the opening brace to the first event, which is the process's name.
std::string headText(const Trace& trace, int64_t base_ns);
// From after the last event to the closing brace.
std::string tailText(const Trace& trace, const TraceTotals& totals, int64_t base_ns, const std::string& path, const ExportOptions& options);

}  // namespace xsigma::profiler::exporters::chrome
