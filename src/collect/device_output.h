// DeviceOutput: the part of a running capture that belongs to a backend.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "capture/sink.h"
#include "capture/writer.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::collect {

// Any thread may call it. It writes past the program's threads: no gate, no slot, and no end when they are stopped.
class DeviceOutput final : public BackendOutput {
 public:
  DeviceOutput(std::shared_ptr<capture::Sink> sink, std::string_view backend);

  uint32_t text(std::string_view text) noexcept override;
  void put(const DeviceActivity& activity) noexcept override;
  void clockPair(uint8_t clock, uint64_t device_ticks, uint64_t host_ticks) noexcept override;
  void lost(DeviceLoss cause, uint64_t count) noexcept override;
  void row(int64_t process_id, int64_t thread_id, std::string_view name, int64_t sort_index) noexcept override;
  void property(std::string_view key, std::string_view json) noexcept override;

  // The device is watched: the capture says so even if nothing is ever put.
  void open() noexcept;
  // Nothing is taken any more: a backend that is still at it calls without effect.
  void close() noexcept;

 private:
  bool mayWrite() noexcept;
  uint64_t now() const noexcept;

  std::mutex mutex_;
  std::shared_ptr<capture::Sink> sink_;  // null once it is closed
  const std::string backend_;
  capture::Writer writer_;  // attached by the first who needs it
  std::unordered_map<std::string, uint32_t> texts_;
  std::string device_properties_;
};

}  // namespace xsigma::profiler::collect
