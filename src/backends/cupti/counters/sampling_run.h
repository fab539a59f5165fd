// Counting by samples: all devices that the program uses, fetched by a thread.
#pragma once

#include <memory>

#include "backends/cupti/counters/counter_api.h"
#include "backends/cupti/counters/counters.h"

namespace xsigma::profiler::backends::cupti {

Expected<std::unique_ptr<CounterRun>> startSampling(CounterApi api, uint8_t clock, const BackendRequest& request,
                                                    std::shared_ptr<BackendOutput> output);

}  // namespace xsigma::profiler::backends::cupti
