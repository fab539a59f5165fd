// Settles what threads could not settle alone, once all of them have been read.
#pragma once

#include <vector>

#include "assemble/leftovers.h"
#include "capture/source.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::assemble {

// Appends the last events of the trace to `batch`, and fills the totals: rows, links and counts. `leftovers` are those of the rows' threads, in order.
void settleLeftovers(const TraceInfo& info, std::vector<Leftovers>& leftovers, EventBatch& batch, TraceTotals& totals);

}  // namespace xsigma::profiler::assemble
