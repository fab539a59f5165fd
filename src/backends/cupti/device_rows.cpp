#include "backends/cupti/device_rows.h"

#include <fmt/format.h>

#include <utility>

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
  if (context != CUPTI_INVALID_CONTEXT_ID && devices_of_contexts_.count(context) == 0) know(context, device);
  if (Device& known = devices_[device]; !known.shown) {
    describeDevices();
    show(device, known);
  }
  Stream& known = streams_[{device, stream}];
  const bool moved = known.context != context && context != CUPTI_INVALID_CONTEXT_ID;
  if (moved) known.context = context;
  if (!known.shown || (moved && context_names_.count(context) != 0)) show(device, stream, known);
}

void DeviceRows::know(uint32_t context, uint32_t device) {
  devices_of_contexts_[context] = device;
  const std::vector<StreamRecord> early = std::exchange(early_streams_, {});
  for (const StreamRecord& record : early) add(record);
}

void DeviceRows::add(const StreamRecord& record) {
  const std::optional<uint32_t> device = deviceOf(record.context);
  if (!device) {
    early_streams_.push_back(record);
    return;
  }
  setPriority(*device, record.stream, record.priority);
}

void DeviceRows::prioritized(uint32_t device, int64_t number, int32_t priority) {
  if (streams_[{device, number}].priority == 0) setPriority(device, number, priority);
}

void DeviceRows::setPriority(uint32_t device, int64_t number, int32_t priority) {
  Stream& stream = streams_[{device, number}];
  if (stream.priority == priority) return;
  stream.priority = priority;
  if (stream.shown) show(device, number, stream);
}

void DeviceRows::add(const NameRecord& record) {
  switch (record.of) {
    case NameRecord::Of::device: {
      Device& device = devices_[record.device];
      device.name = record.name;
      if (device.shown) show(record.device, device);
      return;
    }
    case NameRecord::Of::context: {
      context_names_[record.context] = record.name;
      for (auto& [place, stream] : streams_) {
        if (stream.shown && stream.context == record.context) show(place.first, place.second, stream);
      }
      return;
    }
    case NameRecord::Of::stream: {
      Stream& stream = streams_[{record.device, record.stream}];
      stream.name = record.name;
      if (stream.shown) show(record.device, record.stream, stream);
      return;
    }
    case NameRecord::Of::other: return;
  }
}

std::optional<uint32_t> DeviceRows::deviceOf(uint32_t context) const {
  const auto found = devices_of_contexts_.find(context);
  if (found == devices_of_contexts_.end()) return std::nullopt;
  return found->second;
}

void DeviceRows::show(uint32_t number, Device& device) {
  device.shown = true;
  output_.row(number, -1, device.name.empty() ? fmt::format("GPU {}", number) : fmt::format("GPU {} {}", number, device.name),
              kFirstDeviceRow + number);
}

void DeviceRows::show(uint32_t device, int64_t number, Stream& stream) {
  stream.shown = true;
  std::string name = number == 0 ? "synchronization " : fmt::format("stream {} ", number);
  if (!stream.name.empty()) name += stream.name + ' ';
  if (const auto context = context_names_.find(stream.context); context != context_names_.end())
    name += fmt::format("(context {}) ", context->second);
  if (stream.priority != 0) name += fmt::format("(priority {}) ", stream.priority);
  output_.row(device, number, name, number);
}

}  // namespace xsigma::profiler::backends::cupti
