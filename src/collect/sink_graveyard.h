// A sink may go only when no thread can still be writing to it.
#pragma once

#include <memory>

#include "capture/sink.h"

namespace xsigma::profiler::collect {

// Shares the sink; when the last owner is gone it is unmapped, or, while a thread is inside it, kept until the next one goes.
std::shared_ptr<capture::Sink> buriedWhenUnused(std::unique_ptr<capture::Sink> sink);

}  // namespace xsigma::profiler::collect
