#include "backends/cupti/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <mutex>

#include "base/driver_init.h"
#include "base/dynamic_library.h"
#include "base/json_text.h"

namespace xsigma::profiler::backends::cupti {
namespace {

// Where the kernel's side of the driver shows: of a graphics card, on Windows' Linux, on a Jetson.
bool deviceNodeExists() {
  for (const char* const node : {"/dev/nvidiactl", "/dev/dxg", "/dev/nvmap"}) {
    if (access(node, F_OK) == 0) return true;
  }
  return false;
}

}  // namespace

Expected<const CudaDriver*> CudaDriver::openNow() {
  const Expected<base::DynamicLibrary> library = base::DynamicLibrary::open({"libcuda.so.1"});
  if (!library) {
    return Status(
        StatusCode::unsupported,
        fmt::format("no NVIDIA driver is installed here: {}. On a machine with a GPU, install the driver; in a container, let it have the "
                    "GPU (--gpus all)",
                    library.message()));
  }
  auto driver = std::make_unique<CudaDriver>();
  const auto bind = [&](auto& slot, const char* symbol) {
    slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(library.value().find(symbol));
    return slot != nullptr;
  };
  bind(driver->get_error_string_, "cuGetErrorString");
  if (!bind(driver->driver_get_version_, "cuDriverGetVersion") || !bind(driver->device_get_count_, "cuDeviceGetCount") ||
      !bind(driver->device_get_, "cuDeviceGet") || !bind(driver->device_get_name_, "cuDeviceGetName") ||
      !bind(driver->device_total_mem_, "cuDeviceTotalMem_v2") || !bind(driver->device_get_attribute_, "cuDeviceGetAttribute")) {
    return Status(StatusCode::unsupported,
                  fmt::format("{} is not the library of an NVIDIA driver: functions are missing", library.value().path()));
  }
  return const_cast<const CudaDriver*>(driver.release());
}

Expected<const CudaDriver*> CudaDriver::open() {
  static std::mutex& mutex = *new std::mutex;
  static const CudaDriver* opened = nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  if (opened != nullptr) return opened;
  Expected<const CudaDriver*> now = openNow();
  if (now) opened = *now;
  return now;
}

std::string CudaDriver::errorText(CUresult result) const {
  const char* text = nullptr;
  if (get_error_string_ != nullptr && get_error_string_(result, &text) == CUDA_SUCCESS && text != nullptr) return text;
  return fmt::format("error {}", static_cast<int>(result));
}

Status CudaDriver::hasDevices() const {
  if (base::insideDriverInit()) return {};  // it is about to find out by itself
  int count = 0;
  const CUresult result = device_get_count_(&count);
  if (result == CUDA_ERROR_NOT_INITIALIZED) {
    if (deviceNodeExists()) return {};
    return {StatusCode::unsupported,
            "the NVIDIA driver's library is installed, but there is no GPU here: /dev/nvidiactl is missing. In a container, let it "
            "have the GPU (--gpus all)"};
  }
  if (result != CUDA_SUCCESS)
    return {StatusCode::unsupported, fmt::format("the NVIDIA driver does not say which GPUs there are: {}", errorText(result))};
  if (count == 0)
    return {StatusCode::unsupported, "the NVIDIA driver shows no GPU to this process. See CUDA_VISIBLE_DEVICES, and nvidia-smi"};
  return {};
}

std::vector<DeviceFacts> CudaDriver::devices() const {
  std::vector<DeviceFacts> all;
  int count = 0;
  if (base::insideDriverInit() || device_get_count_(&count) != CUDA_SUCCESS) return all;
  for (int id = 0; id < count; ++id) {
    CUdevice handle = 0;
    if (device_get_(&handle, id) != CUDA_SUCCESS) continue;
    DeviceFacts facts;
    facts.id = id;
    char name[256] = "";
    if (device_get_name_(name, sizeof name - 1, handle) == CUDA_SUCCESS) facts.name = name;
    size_t memory = 0;
    if (device_total_mem_(&memory, handle) == CUDA_SUCCESS) facts.memory = memory;
    const auto attribute = [&](CUdevice_attribute which) {
      int value = 0;
      return device_get_attribute_(&value, which, handle) == CUDA_SUCCESS ? value : 0;
    };
    facts.major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    facts.minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    facts.threads_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    facts.threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    facts.registers_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    facts.registers_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    facts.warp_size = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    facts.shared_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    facts.shared_per_block_optin = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    facts.shared_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    facts.shared_reserved = attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    facts.blocks_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    facts.sms = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    all.push_back(std::move(facts));
  }
  return all;
}

int CudaDriver::version() const {
  int version = 0;
  return driver_get_version_(&version) == CUDA_SUCCESS ? version : 0;
}

std::string devicePropertiesJson(const DeviceFacts& device) {
  return fmt::format(R"({{"id": {}, "name": {}, "totalGlobalMem": {}, "computeMajor": {}, "computeMinor": {}, "maxThreadsPerBlock": {}, )"
                     R"("maxThreadsPerMultiprocessor": {}, "regsPerBlock": {}, "warpSize": {}, "sharedMemPerBlock": {}, "numSms": {}, )"
                     R"("regsPerMultiprocessor": {}, "sharedMemPerBlockOptin": {}, "sharedMemPerMultiprocessor": {}}})",
                     device.id, base::quoted(device.name), device.memory, device.major, device.minor, device.threads_per_block,
                     device.threads_per_sm, device.registers_per_block, device.warp_size, device.shared_per_block, device.sms,
                     device.registers_per_sm, device.shared_per_block_optin, device.shared_per_sm);
}

int loadedRuntimeVersion() {
  for (const char* const name : {"libcudart.so.13", "libcudart.so.12"}) {
    void* const handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    using GetVersion = int(int*);
    auto* const get_version = reinterpret_cast<GetVersion*>(dlsym(handle, "cudaRuntimeGetVersion"));
    int version = 0;
    const bool told = get_version != nullptr && get_version(&version) == 0;
    dlclose(handle);
    if (told) return version;
  }
  return 0;
}

}  // namespace xsigma::profiler::backends::cupti
