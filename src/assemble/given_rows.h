// GivenRows: finds rows for events that brought their own place, so that slices of a row nest or are disjoint.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::assemble {

// An event to be placed; `row` is set by place().
struct Placed {
  int64_t process_id = 0;
  int64_t thread_id = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool slice = true;  // points fit anywhere
  bool crosses = false;  // too many others cross there already: it is on their row, and no slice
  uint32_t row = 0;
  uint16_t depth = 0;
};
inline TraceEventKind kindOf(const Placed& placed) {
  if (!placed.slice) return TraceEventKind::instant;
  return placed.crosses ? TraceEventKind::async_slice : TraceEventKind::slice;
}

// `rows` holds the threads' rows, and gets those that are missing; `taken` says which have slices already. Those that would cross others on their
// row go to a further row beside it, as long as there are not hundreds of those.
void placeGiven(std::vector<Placed*>& events, std::vector<TraceRow>& rows, const std::vector<bool>& taken);

}  // namespace xsigma::profiler::assemble
