// From the raw records that belong to an event to its EventDetails.
#pragma once

#include <cstdint>

#include "capture/record_walk.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::assemble {

// Copies the records into the batch's memory and gives the event its details. Nothing happens where there are none.
void attachDetails(EventBatch& batch, TraceEvent& event, const uint32_t* words, size_t count);
// The event's details, made if it has none.
EventDetails& detailsOf(EventBatch& batch, TraceEvent& event);
// Of a single record that is an event by itself: counter, memory, given.
void attachOwnDetails(EventBatch& batch, TraceEvent& event, const capture::RawRecord& record);

}  // namespace xsigma::profiler::assemble
