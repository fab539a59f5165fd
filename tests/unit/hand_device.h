// Device records in captures that are written by hand.
//
//   HandDevice device(capture);
//   device.put({.role = DeviceRole::call, .correlation = 1, …}, "launch", 100, 120);   // ticks after the start
#pragma once

#include <string_view>
#include <vector>

#include "capture/device_codec.h"
#include "hand_capture.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::test {

class HandDevice {
 public:
  explicit HandDevice(HandCapture& capture) : capture_(capture), thread_(capture.thread(capture::kDeviceThread, "by hand")) {}

  void put(DeviceActivity activity, std::string_view name, uint64_t start, uint64_t end) {
    activity.name = capture_.site(name);
    activity.start = capture_.ticks(start);
    activity.end = capture_.ticks(end);
    putAsItIs(activity, start);
  }
  void putAsItIs(const DeviceActivity& activity, uint64_t ticks) { capture::putDevice(thread_.writer(), capture_.ticks(ticks), activity); }

  void call(std::string_view name, uint64_t correlation, int64_t thread, uint64_t start, uint64_t end) {
    DeviceActivity activity;
    activity.role = DeviceRole::call;
    activity.type = libkineto::ActivityType::CUDA_RUNTIME;
    activity.process_id = kHandProcess;
    activity.thread_id = thread;
    activity.correlation = correlation;
    put(activity, name, start, end);
  }
  void kernel(std::string_view name, uint64_t correlation, int64_t queue, uint64_t start, uint64_t end, std::string_view form = {},
              const std::vector<int64_t>& values = {}) {
    DeviceActivity activity;
    activity.thread_id = queue;
    activity.correlation = correlation;
    if (!form.empty()) activity.form = capture_.site(form);
    activity.values = values.data();
    activity.value_count = static_cast<uint32_t>(values.size());
    put(activity, name, start, end);
  }
  uint32_t index() const { return thread_.index(); }
  HandThread& thread() { return thread_; }

 private:
  HandCapture& capture_;
  HandThread& thread_;
};

}  // namespace xsigma::profiler::test
