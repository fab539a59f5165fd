// For headers of before CUDA 12.6 update 2, which know nothing of these counters.
#include "backends/cupti/counters/counters.h"

namespace xsigma::profiler::backends::cupti {
namespace {

Status tooOld() {
  return {
      StatusCode::unsupported,
      "hardware counters were asked for, and this build was made with headers of before CUDA 12.6 update 2. Build it with later ones, or "
      "leave the metrics out"};
}

}  // namespace

CounterRun::~CounterRun() = default;

Expected<std::unique_ptr<CounterRun>> startCounters(const CounterSeat&, const BackendRequest&, std::shared_ptr<BackendOutput>) {
  return tooOld();
}

Status checkCounters(const CounterSeat&, const BackendRequest&) { return tooOld(); }

}  // namespace xsigma::profiler::backends::cupti
