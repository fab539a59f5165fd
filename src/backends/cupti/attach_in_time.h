// Attaching to CUPTI within a limit. The driver lets CUPTI in under a lock that favours everybody else: threads which are never all outside of CUDA keep it
// out for as long as they go on.
#pragma once

#include <chrono>
#include <memory>

#include "backends/cupti/attachment.h"

namespace xsigma::profiler::backends::cupti {

constexpr std::chrono::seconds kMostAttaching{3};

// Attachment::attach on a thread of its own. An error of kind busy when it has not come back in time; it lets go by itself then as soon as it does, and keeps
// `held` until it has.
Expected<std::unique_ptr<Attachment>> attachInTime(const CuptiLibrary& cupti, const BackendRequest& request, std::shared_ptr<void> held);

}  // namespace xsigma::profiler::backends::cupti
