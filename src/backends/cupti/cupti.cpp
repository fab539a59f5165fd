// NVIDIA devices, by way of CUPTI.
#include <atomic>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "backends/cupti/cuda_driver.h"
#include "backends/cupti/cupti_library.h"
#include "backends/cupti/cupti_run.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends {
namespace cupti {
namespace {

class CuptiBackend final : public Backend {
 public:
  std::string_view name() const noexcept override { return "cupti"; }
  std::string_view device() const noexcept override { return "CUDA"; }

  Status available() override {
    const Expected<const CudaDriver*> driver = CudaDriver::open();
    if (!driver) return driver.status();
    if (Status status = driver.value()->hasDevices(); !status) return status;
    return CuptiLibrary::open().status();
  }

  Status prepare(const BackendRequest& request) override {
    if (Status status = available(); !status) return status;
    Expected<double> took = CuptiRun::rehearse(**CuptiLibrary::open(), request);
    if (!took) return took.status();
    warmup_ms_.store(*took, std::memory_order_relaxed);
    return {};
  }

  Expected<std::unique_ptr<BackendRun>> start(const BackendRequest& request, std::shared_ptr<BackendOutput> output) override {
    if (Status status = available(); !status) return status;
    Expected<std::unique_ptr<BackendRun>> run = CuptiRun::start(**CuptiLibrary::open(), **CudaDriver::open(), request, output);
    if (const double took = warmup_ms_.exchange(0, std::memory_order_relaxed); run && took > 0) {
      output->property("xsigmaDeviceWarmup", fmt::format("{:.3f}", took));
    }
    return run;
  }

 private:
  std::atomic<double> warmup_ms_{0};  // of the last preparation; 0 = none since the last run
};

}  // namespace
}  // namespace cupti

void add_cupti(std::vector<Backend*>& all) {
  static cupti::CuptiBackend& backend = *new cupti::CuptiBackend;
  all.push_back(&backend);
}

}  // namespace xsigma::profiler::backends
