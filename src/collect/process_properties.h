// What a capture says of its process: who it is, and its place in a job of several.
#pragma once

#include <string>

#include "capture/sink.h"

namespace xsigma::profiler::collect {

void addProcessProperties(capture::Sink& sink);

// {"backend": …, "rank": N, "world_size": M} from the launcher's environment: torchrun, Slurm, Open MPI or PMI; rank 0 of 1 without one.
std::string distributedInfo();

}  // namespace xsigma::profiler::collect
