// A device that is timed by events, with a clock that the test turns by hand; and an output that keeps what it gets.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "xsigma/profiler/backend.h"
#include "xsigma/profiler/profiler_stubs.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler::test {

class FakeStubs final : public ProfilerStubs {
 public:
  void record(int* device, ProfilerVoidEventStub* event, int64_t*) const override {
    ++records;
    waitWhile(stuck_);
    if (fails) throw ProfilerError("the fake device is broken");
    *device = has_device ? 0 : -1;
    if (!has_device) return;
    if (*event == nullptr) {
      ++made;
      *event = std::shared_ptr<void>(new int64_t(0), [this](void* each) {
        delete static_cast<int64_t*>(each);
        --made;
      });
    }
    *static_cast<int64_t*>(event->get()) = now_ns;
  }
  float elapsed(const ProfilerVoidEventStub* first, const ProfilerVoidEventStub* second) const override {
    ++asked;
    waitWhile(hangs_);
    const int64_t ns = *static_cast<const int64_t*>(second->get()) - *static_cast<const int64_t*>(first->get());
    return static_cast<float>(ns) / 1000.0f;
  }
  void mark(const char*) const override {}
  void rangePush(const char*) const override {}
  void rangePop() const override {}
  bool enabled() const override { return true; }
  void onEachDevice(const std::function<void(int)>& op) const override { op(0); }
  void synchronize() const override {}

  // The device does not get to what was asked of it.
  void hang(bool on) { set(hangs_, on); }
  // Its queue is full: whoever asks for more waits.
  void stick(bool on) { set(stuck_, on); }

  std::atomic<int64_t> now_ns{5'000'000'000};  // where the device is: its clock began some other time than the host's
  std::atomic<bool> fails{false};
  std::atomic<bool> has_device{true};
  mutable std::atomic<int> records{0};
  mutable std::atomic<int> asked{0};  // times between events
  mutable std::atomic<int> made{0};   // events that exist

 private:
  void set(bool& which, bool on) {
    const std::lock_guard lock(mutex_);
    which = on;
    reached_.notify_all();
  }
  void waitWhile(const bool& which) const {
    std::unique_lock lock(mutex_);
    reached_.wait(lock, [&] { return !which; });
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable reached_;
  bool hangs_ = false;
  bool stuck_ = false;
};

// There until the program ends: the worker of a run that hung may come back to them at any time.
inline FakeStubs& keptStubs() {
  static std::vector<std::unique_ptr<FakeStubs>>& all = *new std::vector<std::unique_ptr<FakeStubs>>;
  return *all.emplace_back(std::make_unique<FakeStubs>());
}

struct KeptOutput final : BackendOutput {
  struct Pair {
    uint64_t device_ticks;
    uint64_t host_ticks;
  };

  uint32_t text(std::string_view text) noexcept override {
    for (size_t i = 0; i < texts.size(); ++i) {
      if (texts[i] == text) return static_cast<uint32_t>(i + 1);
    }
    texts.emplace_back(text);
    return static_cast<uint32_t>(texts.size());
  }
  void put(const DeviceActivity& activity) noexcept override { (activity.role == DeviceRole::call ? calls : works).push_back(activity); }
  void clockPair(uint8_t, uint64_t device_ticks, uint64_t host_ticks) noexcept override { pairs.push_back({device_ticks, host_ticks}); }
  void lost(DeviceLoss cause, uint64_t count) noexcept override { losses[static_cast<size_t>(cause)] += count; }
  void row(int64_t, int64_t thread_id, std::string_view name, int64_t) noexcept override { rows[thread_id] = name; }
  void property(std::string_view, std::string_view) noexcept override {}

  const std::string& nameOf(const DeviceActivity& activity) const { return texts.at(activity.name - 1); }
  // All the works of a name.
  std::vector<DeviceActivity> named(const std::string& name) const {
    std::vector<DeviceActivity> found;
    for (const DeviceActivity& work : works) {
      if (nameOf(work) == name) found.push_back(work);
    }
    return found;
  }

  std::vector<std::string> texts;
  std::vector<DeviceActivity> calls;
  std::vector<DeviceActivity> works;
  std::vector<Pair> pairs;
  uint64_t losses[kDeviceLosses] = {};
  std::map<int64_t, std::string> rows;
};

// What a capture counts in where there is no cycle counter: nanoseconds.
inline uint64_t monotonicTicks() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace xsigma::profiler::test
