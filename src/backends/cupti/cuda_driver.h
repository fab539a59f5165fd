// CudaDriver: what the driver's library tells about the devices. Nothing here initialises CUDA: a program that forks later could not use it any more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/cupti/cupti_api.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler::backends::cupti {

struct DeviceFacts {
  int id = 0;
  std::string name{};
  uint64_t memory = 0;
  int major = 0;
  int minor = 0;
  int threads_per_block = 0;
  int threads_per_sm = 0;
  int registers_per_block = 0;
  int registers_per_sm = 0;
  int warp_size = 0;
  int shared_per_block = 0;
  int shared_per_block_optin = 0;
  int shared_per_sm = 0;
  int shared_reserved = 0;  // of each block, for the system
  int blocks_per_sm = 0;
  int sms = 0;
};

class CudaDriver {
 public:
  // Opened once and never closed.
  static Expected<const CudaDriver*> open();

  // Whether there are devices; before the program has initialised CUDA, whether it looks like it.
  Status hasDevices() const;
  // Empty until the program has initialised CUDA.
  std::vector<DeviceFacts> devices() const;
  int version() const;  // 13000; 0 when it is not told

 private:
  std::string errorText(CUresult result) const;

  decltype(&::cuDriverGetVersion) driver_get_version_ = nullptr;
  decltype(&::cuGetErrorString) get_error_string_ = nullptr;
  decltype(&::cuDeviceGetCount) device_get_count_ = nullptr;
  decltype(&::cuDeviceGet) device_get_ = nullptr;
  decltype(&::cuDeviceGetName) device_get_name_ = nullptr;
  decltype(&::cuDeviceTotalMem) device_total_mem_ = nullptr;
  decltype(&::cuDeviceGetAttribute) device_get_attribute_ = nullptr;

  static Expected<const CudaDriver*> openNow();
};

// As torch.profiler writes it into the head of a trace.
std::string devicePropertiesJson(const DeviceFacts& device);

// That of a libcudart.so in this process; 0 where the program has none, or has it linked in.
int loadedRuntimeVersion();

}  // namespace xsigma::profiler::backends::cupti
