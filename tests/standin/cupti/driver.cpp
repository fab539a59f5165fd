// What a backend asks of the driver's library, answered from the recording: the device that it was made on.
#include <cuda.h>

#include <cstring>
#include <map>

#include "recording.h"
#include "standin.h"

namespace {

using xsigma::standin::behaviour;

std::map<std::string, int64_t> device() { return xsigma::standin::numbersOf(xsigma::standin::devicesJson()); }

const char* fieldOf(CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return "computeMajor";
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return "computeMinor";
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return "maxThreadsPerBlock";
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return "maxThreadsPerMultiprocessor";
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: return "regsPerBlock";
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return "regsPerMultiprocessor";
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return "warpSize";
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return "sharedMemPerBlock";
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return "sharedMemPerBlockOptin";
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return "sharedMemPerMultiprocessor";
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: return "reservedSharedMemPerBlock";
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: return "maxBlocksPerMultiprocessor";
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return "numSms";
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return "clockRateKHz";
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return "memoryClockRateKHz";
    default: return nullptr;
  }
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetErrorString(CUresult, const char** text) {
  *text = "an error of the stand-in";
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetCount(int* count) {
  if (!behaviour().cuda_initialised) return CUDA_ERROR_NOT_INITIALIZED;
  *count = behaviour().no_devices ? 0 : 1;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGet(CUdevice* handle, int index) {
  *handle = index;
  return behaviour().cuda_initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult CUDAAPI cuDeviceGetName(char* name, int size, CUdevice) {
  const std::string json = xsigma::standin::devicesJson();
  const std::string key = "\"name\": \"";
  const size_t begin = json.find(key) + key.size();
  const std::string text = json.substr(begin, json.find('"', begin) - begin);
  std::strncpy(name, text.c_str(), static_cast<size_t>(size));
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  *bytes = static_cast<size_t>(device()["totalGlobalMem"]);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  const char* const field = fieldOf(attribute);
  if (field == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *value = static_cast<int>(device()[field]);
  return CUDA_SUCCESS;
}

}  // extern "C"
