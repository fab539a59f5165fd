#include "backends/cupti/counters/counter_api.h"

#include <fmt/format.h>

namespace xsigma::profiler::backends::cupti {
namespace {

// Held open for good, like every library of base::DynamicLibrary.
void openBeside(const std::string& library, const char* name) {
  const size_t slash = library.rfind('/');
  if (slash != std::string::npos) (void)base::DynamicLibrary::open({library.substr(0, slash + 1) + name});
}

}  // namespace

Expected<CounterApi> CounterApi::open(const base::DynamicLibrary& profiling) {
  Expected<base::DynamicLibrary> driver = base::DynamicLibrary::open({"libcuda.so.1"});
  if (!driver) {
    return Status(StatusCode::unsupported,
                  fmt::format("hardware counters need the NVIDIA driver, which is not there: {}. In a container, start it with --gpus all",
                              driver.message()));
  }
  openBeside(profiling.path(), "libnvperf_host.so");
  openBeside(profiling.path(), "libnvperf_target.so");

  CounterApi api;
  api.path = profiling.path();
  const char* missing = nullptr;
#define XSIGMA_COUNTER_FIND(name)                         \
  api.name = profiling.function<decltype(::name)>(#name); \
  if (api.name == nullptr && missing == nullptr) missing = #name;
  XSIGMA_COUNTER_HOST_CALLS(XSIGMA_COUNTER_FIND)
  XSIGMA_COUNTER_RANGE_CALLS(XSIGMA_COUNTER_FIND)
  XSIGMA_COUNTER_SAMPLING_CALLS(XSIGMA_COUNTER_FIND)
#undef XSIGMA_COUNTER_FIND
  if (missing != nullptr) {
    return Status(
        StatusCode::unsupported,
        fmt::format("{} has no {}: hardware counters need CUPTI of CUDA 12.6 update 2 or later. Update it (Python: pip install -U "
                    "nvidia-cuda-cupti), or leave the metrics out",
                    api.path, missing));
  }
#define XSIGMA_COUNTER_FIND(name)                       \
  api.name = driver->function<decltype(::name)>(#name); \
  if (api.name == nullptr && missing == nullptr) missing = #name;
  XSIGMA_COUNTER_DRIVER_CALLS(XSIGMA_COUNTER_FIND)
#undef XSIGMA_COUNTER_FIND
  if (missing != nullptr) {
    return Status(StatusCode::unsupported, fmt::format("{} has no {}: update the NVIDIA driver", driver->path(), missing));
  }
  if (api.cuptiGetVersion(&api.version) != CUPTI_SUCCESS) api.version = 0;
  return api;
}

std::string CounterApi::nameOf(CUptiResult result) const {
  const char* text = nullptr;
  if (cuptiGetResultString(result, &text) == CUPTI_SUCCESS && text != nullptr) return text;
  return fmt::format("error {}", static_cast<int>(result));
}

}  // namespace xsigma::profiler::backends::cupti
