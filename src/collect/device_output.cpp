#include "collect/device_output.h"

#include <new>
#include <utility>

#include "base/clock.h"
#include "base/ticks.h"
#include "capture/device_codec.h"

namespace xsigma::profiler::collect {

DeviceOutput::DeviceOutput(std::shared_ptr<capture::Sink> sink, std::string_view backend) : sink_(std::move(sink)), backend_(backend) {
  writer_.setOfDevice();
}

uint64_t DeviceOutput::now() const noexcept {
  return sink_->counterIsClock() ? static_cast<uint64_t>(base::monotonicNs()) : base::readTicks();
}

bool DeviceOutput::mayWrite() noexcept {
  if (sink_ == nullptr) return false;
  if (writer_.sink() == nullptr) writer_.attach(*sink_, sink_->addDeviceThread(backend_), 0);
  return true;
}

void DeviceOutput::open() noexcept {
  const std::lock_guard lock(mutex_);
  mayWrite();
}

uint32_t DeviceOutput::text(std::string_view text) noexcept {
  const std::lock_guard lock(mutex_);
  if (sink_ == nullptr) return 0;
  try {
    const auto [entry, fresh] = texts_.try_emplace(std::string(text), 0);
    if (fresh) entry->second = sink_->addOwnSite(text);
    return entry->second;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

void DeviceOutput::put(const DeviceActivity& activity) noexcept {
  const std::lock_guard lock(mutex_);
  if (mayWrite()) capture::putDevice(writer_, now(), activity);
}

void DeviceOutput::clockPair(uint8_t clock, uint64_t device_ticks, uint64_t host_ticks) noexcept {
  const std::lock_guard lock(mutex_);
  if (mayWrite()) capture::putDeviceClock(writer_, now(), clock, device_ticks, host_ticks);
}

void DeviceOutput::lost(DeviceLoss cause, uint64_t count) noexcept {
  const std::lock_guard lock(mutex_);
  if (sink_ != nullptr && count != 0) sink_->countDeviceLoss(static_cast<size_t>(cause), count);
}

void DeviceOutput::row(int64_t process_id, int64_t thread_id, std::string_view name, int64_t sort_index) noexcept {
  const std::lock_guard lock(mutex_);
  if (sink_ != nullptr) sink_->addDeviceRow(process_id, thread_id, name, sort_index);
}

void DeviceOutput::property(std::string_view key, std::string_view json) noexcept {
  const std::lock_guard lock(mutex_);
  if (sink_ == nullptr) return;
  if (key != "deviceProperties") return sink_->addProperty(key, json);
  try {
    device_properties_ += device_properties_.empty() ? "" : ", ";
    device_properties_ += json;
    sink_->addProperty(key, "[" + device_properties_ + "]");
  } catch (const std::bad_alloc&) {
  }
}

void DeviceOutput::close() noexcept {
  const std::lock_guard lock(mutex_);
  writer_.detach();
  sink_.reset();
}

}  // namespace xsigma::profiler::collect
