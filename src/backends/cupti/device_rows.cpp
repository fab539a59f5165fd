#include "backends/cupti/device_rows.h"

#include <fmt/format.h>

namespace xsigma::profiler::backends::cupti {
namespace {

constexpr int64_t kFirstDeviceRow = 5'000'000;  // below every process, as in torch.profiler's traces

}  // namespace

void DeviceRows::describeDevices() {
  if (!facts_.empty() || driver_ == nullptr) return;
  facts_ = driver_->devices();
  for (const DeviceFacts& device : facts_) output_.property("deviceProperties", devicePropertiesJson(device));
}

const DeviceFacts* DeviceRows::facts(uint32_t device) {
  if (facts_.empty()) describeDevices();
  return device < facts_.size() ? &facts_[device] : nullptr;
}

void DeviceRows::seen(uint32_t device, uint32_t context, int64_t stream) {
  if (context != CUPTI_INVALID_CONTEXT_ID && devices_of_contexts_.try_emplace(context, device).second) {
    std::vector<StreamRecord> early = std::move(early_streams_);
    early_streams_.clear();
    for (const StreamRecord& record : early) add(record);
  }
  if (bool& shown = shown_devices_[device]; !shown) {
    shown = true;
    describeDevices();
    output_.row(device, -1, fmt::format("GPU {}", device), kFirstDeviceRow + device);
  }
  Stream& known = streams_[{device, stream}];
  if (!known.shown) show(device, stream, known);
}

void DeviceRows::add(const StreamRecord& record) {
  const std::optional<uint32_t> device = deviceOf(record.context);
  if (!device) {
    early_streams_.push_back(record);
    return;
  }
  Stream& stream = streams_[{*device, record.stream}];
  if (stream.priority == record.priority) return;
  stream.priority = record.priority;
  if (stream.shown) show(*device, record.stream, stream);
}

void DeviceRows::add(const StreamNameRecord& record) {
  Stream& stream = streams_[{record.device, record.stream}];
  stream.name = record.name;
  if (stream.shown) show(record.device, record.stream, stream);
}

std::optional<uint32_t> DeviceRows::deviceOf(uint32_t context) const {
  const auto found = devices_of_contexts_.find(context);
  if (found == devices_of_contexts_.end()) return std::nullopt;
  return found->second;
}

void DeviceRows::show(uint32_t device, int64_t number, Stream& stream) {
  stream.shown = true;
  std::string name = number == 0 ? "synchronization " : fmt::format("stream {} ", number);
  if (!stream.name.empty()) name += stream.name + ' ';
  if (stream.priority != 0) name += fmt::format("(priority {}) ", stream.priority);
  output_.row(device, number, name, number);
}

}  // namespace xsigma::profiler::backends::cupti
