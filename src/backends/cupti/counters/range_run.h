// Counting by ranges: every context of the program, those that come later too.
#pragma once

#include <memory>

#include "backends/cupti/counters/counter_api.h"
#include "backends/cupti/counters/counters.h"

namespace xsigma::profiler::backends::cupti {

Expected<std::unique_ptr<CounterRun>> startRanges(CounterApi api, const BackendRequest& request, std::shared_ptr<BackendOutput> output);

}  // namespace xsigma::profiler::backends::cupti
