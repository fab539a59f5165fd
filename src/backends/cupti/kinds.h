// Which of CUPTI's records a request needs.
#pragma once

#include <vector>

#include "backends/cupti/cupti_api.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::cupti {

struct WantedKind {
  CUpti_ActivityKind kind;
  const char* name;  // for messages: "kernels"
  bool needed;       // a run without it is none
};

// In the order in which they are to be enabled, and in the other one disabled. Contexts and streams are not among them: stream_dump.h.
std::vector<WantedKind> wantedKinds(const BackendRequest& request);

}  // namespace xsigma::profiler::backends::cupti
