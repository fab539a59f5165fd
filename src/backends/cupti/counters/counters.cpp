#include "backends/cupti/counters/counters.h"

#include <fmt/format.h>

#include "backends/cupti/counters/counted_devices.h"
#include "backends/cupti/counters/range_run.h"
#include "backends/cupti/counters/refusal.h"
#include "backends/cupti/counters/sampling_run.h"

namespace xsigma::profiler::backends::cupti {
namespace {

Expected<CounterApi> openFor(const CounterSeat& seat, const BackendRequest& request) {
  if (request.metrics.empty()) return Status(StatusCode::invalid_argument, "no metrics were named, such as sm__cycles_active.avg");
  if (request.metrics.size() > kMostDeviceValues) {
    return Status(StatusCode::invalid_argument,
                  fmt::format("{} metrics were named, and {} at most can be counted at once. Ask for fewer, in several recordings",
                              request.metrics.size(), kMostDeviceValues));
  }
  if (request.sample_interval.count() < 0)
    return Status(StatusCode::invalid_argument, "a sample interval below zero. Use 0 for no samples");
  if (request.sample_interval.count() > 0 && request.metrics_per_kernel) {
    return Status(StatusCode::invalid_argument,
                  "metrics as samples and metrics per kernel exclude each other. Drop the interval, or per kernel");
  }
  Expected<CounterApi> api = CounterApi::open(seat.library);
  if (!api) return api;
  if (const CUresult result = api->cuInit(0); result != CUDA_SUCCESS) {
    return Status(StatusCode::unsupported, fmt::format("cannot count: the driver does not start (cuInit answered {}). nvidia-smi says why",
                                                       static_cast<int>(result)));
  }
  auto params = XSIGMA_COUNTER_PARAMS(CUpti_Profiler_Initialize_Params, pPriv);
  if (const CUptiResult result = api->cuptiProfilerInitialize(&params); result != CUPTI_SUCCESS) {
    return refusal(*api, result, "cuptiProfilerInitialize", "count");
  }
  return api;
}

}  // namespace

CounterRun::~CounterRun() = default;

Expected<std::unique_ptr<CounterRun>> startCounters(const CounterSeat& seat, const BackendRequest& request,
                                                    std::shared_ptr<BackendOutput> output) {
  Expected<CounterApi> api = openFor(seat, request);
  if (!api) return api.status();
  if (request.sample_interval.count() > 0) return startSampling(std::move(*api), seat.clock, request, std::move(output));
  return startRanges(std::move(*api), request, std::move(output));
}

Status checkCounters(const CounterSeat& seat, const BackendRequest& request) {
  Expected<CounterApi> api = openFor(seat, request);
  if (!api) return api.status();
  Expected<std::vector<int>> devices = usedDevices(*api);
  if (!devices) return devices.status();
  for (const int device : *devices) {
    Expected<MetricPlan> plan = request.sample_interval.count() > 0 ? planSamples(*api, request.metrics, device)
                                                                    : planRanges(*api, request.metrics, device, nullptr);
    if (!plan) return plan.status();
    if (request.sample_interval.count() == 0 && !request.metrics_per_kernel) {
      if (Status status = requireOnePass(*api, *plan, "one range over the whole session is counted in one"); !status) return status;
    }
  }
  return {};
}

}  // namespace xsigma::profiler::backends::cupti
