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
  uint32_t row = 0;
  uint16_t depth = 0;
};

// `rows` holds the threads' rows, and gets those that are missing; `taken` says which have slices already. Those that would cross others on their
// row go to a further row beside it.
void placeGiven(std::vector<Placed*>& events, std::vector<TraceRow>& rows, const std::vector<bool>& taken);

}  // namespace xsigma::profiler::assemble
