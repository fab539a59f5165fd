// A BackendOutput that keeps all it is told, in words that a test can compare.
#pragma once

#include <atomic>
#include <bit>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::testing {

struct KeptActivity {
  DeviceActivity told;  // without the values
  std::string name;
  std::string args;  // the form with its values; a rate stands as "<values> per ns"
  std::vector<int64_t> values;
};

class KeptOutput : public BackendOutput {
 public:
  uint32_t text(std::string_view text) noexcept override {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = numbers_.try_emplace(std::string(text), static_cast<uint32_t>(numbers_.size() + 1));
    if (is_new) texts_.push_back(at->first);
    return at->second;
  }
  void put(const DeviceActivity& activity) noexcept override {
    std::unique_lock lock(mutex_);
    open_.wait(lock, [this] { return !closed_; });
    KeptActivity kept{activity, textOf(activity.name), {}, {activity.values, activity.values + activity.value_count}};
    kept.told.values = nullptr;
    kept.args = argsOf(activity);
    all_.push_back(std::move(kept));
  }
  void clockPair(uint8_t clock, uint64_t device_ticks, uint64_t host_ticks) noexcept override {
    const std::lock_guard lock(mutex_);
    pairs.push_back({clock, {device_ticks, host_ticks}});
  }
  void lost(DeviceLoss cause, uint64_t count) noexcept override {
    const std::lock_guard lock(mutex_);
    losses_[cause] += count;
  }
  void row(int64_t process_id, int64_t thread_id, std::string_view name, int64_t) noexcept override {
    const std::lock_guard lock(mutex_);
    rows_[{process_id, thread_id}] = name;
  }
  void property(std::string_view key, std::string_view json) noexcept override {
    const std::lock_guard lock(mutex_);
    properties_[std::string(key)] = json;
  }

  // While it is closed, whoever puts something waits.
  void close(bool closed) {
    {
      const std::lock_guard lock(mutex_);
      closed_ = closed;
    }
    open_.notify_all();
  }

  // Copies, so that they may be asked for at any time.
  std::vector<KeptActivity> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  std::vector<KeptActivity> of(DeviceRole role) const {
    std::vector<KeptActivity> some;
    for (KeptActivity& activity : all()) {
      if (activity.told.role == role) some.push_back(std::move(activity));
    }
    return some;
  }
  std::map<std::string, int> countsByName(DeviceRole role) const {
    std::map<std::string, int> counts;
    for (const KeptActivity& activity : of(role)) ++counts[activity.name];
    return counts;
  }
  uint64_t lossOf(DeviceLoss cause) const {
    const std::lock_guard lock(mutex_);
    const auto found = losses_.find(cause);
    return found == losses_.end() ? 0 : found->second;
  }
  std::map<std::pair<int64_t, int64_t>, std::string> rows() const {
    const std::lock_guard lock(mutex_);
    return rows_;
  }
  std::map<std::string, std::string> properties() const {
    const std::lock_guard lock(mutex_);
    return properties_;
  }

  std::vector<std::pair<uint8_t, std::pair<uint64_t, uint64_t>>> pairs;

 private:
  std::string textOf(uint32_t number) const { return number == 0 || number > texts_.size() ? "" : texts_[number - 1]; }

  std::string argsOf(const DeviceActivity& activity) const {
    std::string args;
    uint32_t next = 0;
    for (const char letter : textOf(activity.form)) {
      const bool is_value = letter == kArgInteger || letter == kArgReal || letter == kArgText || letter == kArgRate;
      if (!is_value) {
        args += letter;
        continue;
      }
      const int64_t value = next < activity.value_count ? activity.values[next] : 0;
      if (next++ >= activity.value_count) {
        args += "MISSING";
      } else if (letter == kArgText) {
        args += '"' + textOf(static_cast<uint32_t>(value)) + '"';
      } else if (letter == kArgReal) {
        args += std::to_string(std::bit_cast<double>(value));
      } else {
        args += std::to_string(value) + (letter == kArgRate ? " per ns" : "");
      }
    }
    return args;
  }

  mutable std::mutex mutex_;
  std::condition_variable open_;
  bool closed_ = false;
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> texts_;
  std::vector<KeptActivity> all_;
  std::map<DeviceLoss, uint64_t> losses_;
  std::map<std::pair<int64_t, int64_t>, std::string> rows_;
  std::map<std::string, std::string> properties_;
};

}  // namespace xsigma::profiler::testing
