// Links between events: forward to backward by thread and sequence number, and those that given events bring along.
#pragma once

#include <vector>

#include "assemble/leftovers.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::assemble {

// The innermost forward op of a (thread, sequence number) that had begun by then starts the link; each is linked once. Ids count from `first_id`.
// `threads` are the leftovers of the rows, in order.
std::vector<TraceLink> linkForwardBackward(const std::vector<TraceRow>& rows, const std::vector<Leftovers>& threads, uint64_t first_id);

// One end of a flow that came with a given event.
struct FlowEnd {
  uint32_t id = 0;
  uint8_t type = 0;
  bool start = false;
  uint32_t row = 0;
  int64_t ns = 0;
  uint64_t event = 0;
};
// Ends without a start, and starts without an end, make no link.
std::vector<TraceLink> linkFlows(std::vector<FlowEnd> ends);

}  // namespace xsigma::profiler::assemble
