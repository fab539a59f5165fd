// Why the driver or the vendor's library does not count, and what to do about it.
#pragma once

#include <string_view>

#include "backends/cupti/counters/counter_api.h"

namespace xsigma::profiler::backends::cupti {

// Of a call that was made for a device. What was asked for is in `what`: "count on device 0".
Status refusal(const CounterApi& api, CUptiResult result, std::string_view call, std::string_view what);

}  // namespace xsigma::profiler::backends::cupti
