// Where the headers are too old for hardware counters: says so to whoever asks for them.
#include "backends/cupti/counters/counters.h"

namespace xsigma::profiler::backends::cupti {
namespace {

Status tooOld() {
  return {StatusCode::unsupported,
          "hardware counters need a build with the headers of CUDA 12.6 or later; this one was made with older ones. Leave the "
          "metrics out, or build it again with a later toolkit"};
}

}  // namespace

CounterRun::~CounterRun() = default;

Expected<std::unique_ptr<CounterRun>> startCounters(const CounterSeat&, const BackendRequest&, std::shared_ptr<BackendOutput>) {
  return tooOld();
}

Status checkCounters(const CounterSeat&, const BackendRequest&) { return tooOld(); }

}  // namespace xsigma::profiler::backends::cupti
