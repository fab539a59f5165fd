// Which devices and contexts the program uses, and what can be counted on them.
#pragma once

#include <vector>

#include "backends/cupti/counters/metric_host.h"

namespace xsigma::profiler::backends::cupti {

struct UsedContext {
  CUcontext context;
  int device;
};

// The thread's current context, and the primary one of each device if it is active.
std::vector<UsedContext> usedContexts(const CounterApi& api);
// Those of the contexts; all there are if there is no context yet.
Expected<std::vector<int>> usedDevices(const CounterApi& api);

// Chip and availability of counters. Context: null if there is none yet, then availability is not asked.
Expected<MetricPlan> planRanges(const CounterApi& api, const std::vector<std::string>& metrics, int device, CUcontext context);
Expected<MetricPlan> planSamples(const CounterApi& api, const std::vector<std::string>& metrics, int device);

}  // namespace xsigma::profiler::backends::cupti
