// Settles what threads could not settle alone, once all of them have been read.
#pragma once

#include <functional>
#include <vector>

#include "assemble/device_events.h"
#include "assemble/leftovers.h"
#include "capture/source.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::assemble {

// Called after each event that was appended, and once more at the end: gives the batch out when it is full, or if it is the last.
using Flush = std::function<void(bool last)>;

// Appends the last events of the trace to `batch`, and fills the totals: rows, links and counts. `leftovers` are those of the rows' threads, in order.
void settleLeftovers(const TraceInfo& info, std::vector<Leftovers>& leftovers, DeviceEvents& devices, const capture::Tables& tables, EventBatch& batch, TraceTotals& totals,
                     const Flush& flush);

}  // namespace xsigma::profiler::assemble
