#include "backends/cupti/counters/refusal.h"

#include <fmt/format.h>

namespace xsigma::profiler::backends::cupti {
namespace {

constexpr std::string_view kPrivileges =
    "the driver lets only administrators read hardware counters. On the machine itself, as root: write "
    "\"options nvidia NVreg_RestrictProfilingToAdminUsers=0\" into /etc/modprobe.d/nvidia-profiling.conf, run update-initramfs -u (or "
    "dracut --force) and reboot; or run the program as root. In a container: docker run --cap-add SYS_ADMIN (Kubernetes: "
    "securityContext.capabilities.add: [\"SYS_ADMIN\"]), or the same setting on the host";

std::string_view adviceFor(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: return kPrivileges;
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "this is a virtual GPU whose host does not let guests read hardware counters. The host has to set the vGPU's plug-in "
             "parameter "
             "enable_profiling=1";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED: return "this is a virtual GPU, and that kind has no hardware counters";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
      return "this is a slice of a GPU (MIG), which has no hardware counters of its own. Use a whole GPU";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return "confidential computing is on, which closes the hardware counters. Use a GPU in another mode (nvidia-smi conf-compute -srs)";
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED: return "under WSL this GPU's hardware counters cannot be read";
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_NOT_COMPATIBLE:
    case CUPTI_ERROR_NOT_SUPPORTED:
      return "this GPU or its mode has no hardware counters for that; GPUs from compute capability 7.5 on have them";
    case CUPTI_ERROR_NOT_INITIALIZED:
      return "libnvperf_host.so and libnvperf_target.so have to be found: they come with libcupti, in the same folder. Put it on "
             "LD_LIBRARY_PATH";
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "somebody else holds the counters: another profiler (ncu, nsys), or the DCGM service, which \"dcgmi profile --pause\" stops "
             "for a while";
    case CUPTI_ERROR_INVALID_OPERATION: return "counting is already on there, by this program or by a library in it";
    case CUPTI_ERROR_OUT_OF_MEMORY: return "there is not enough memory on the device for the counters' buffer";
    default: return "leave the metrics out, or try without other profilers";
  }
}

StatusCode codeFor(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INVALID_METRIC_NAME: return StatusCode::invalid_argument;
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_OPERATION: return StatusCode::busy;
    default: return StatusCode::unsupported;
  }
}

}  // namespace

Status refusal(const CounterApi& api, CUptiResult result, std::string_view call, std::string_view what) {
  return {codeFor(result), fmt::format("cannot {}: {} answered {}. {}", what, call, api.nameOf(result), adviceFor(result))};
}

}  // namespace xsigma::profiler::backends::cupti
