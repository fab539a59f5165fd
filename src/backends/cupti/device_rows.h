// DeviceRows: what is known of devices, contexts and streams, and the names that their rows get.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/cupti/cuda_driver.h"
#include "backends/cupti/records.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::cupti {

class DeviceRows {
 public:
  // `driver` may be null: nothing is known of devices then.
  DeviceRows(const CudaDriver* driver, BackendOutput& output) : driver_(driver), output_(output) {}

  // Puts the properties of the devices, once they can be asked for.
  void describeDevices();
  // Null when it is not known.
  const DeviceFacts* facts(uint32_t device);

  // Something was on this stream: it gets a row.
  void seen(uint32_t device, uint32_t context, int64_t stream);
  // What a kernel tells of its stream, of which there may be no record.
  void prioritized(uint32_t device, int64_t stream, int32_t priority);
  void add(const ContextRecord& context) { know(context.context, context.device); }
  void add(const StreamRecord& stream);
  void add(const NameRecord& name);
  std::optional<uint32_t> deviceOf(uint32_t context) const;

 private:
  struct Device {
    std::string name{};
    bool shown = false;
  };
  struct Stream {
    uint32_t context = CUPTI_INVALID_CONTEXT_ID;
    int32_t priority = 0;
    std::string name{};
    bool shown = false;
  };

  void know(uint32_t context, uint32_t device);
  void setPriority(uint32_t device, int64_t number, int32_t priority);
  void show(uint32_t number, Device& device);
  void show(uint32_t device, int64_t number, Stream& stream);

  const CudaDriver* driver_;
  BackendOutput& output_;
  std::vector<DeviceFacts> facts_;
  std::unordered_map<uint32_t, uint32_t> devices_of_contexts_;
  std::unordered_map<uint32_t, std::string> context_names_;
  std::unordered_map<uint32_t, Device> devices_;
  std::map<std::pair<uint32_t, int64_t>, Stream> streams_;  // by device and number
  std::vector<StreamRecord> early_streams_;                 // of contexts whose device is not known yet
};

}  // namespace xsigma::profiler::backends::cupti
