// RangeContexts: the range sessions of all contexts, found by context without a lock.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "backends/cupti/counters/counted_devices.h"
#include "backends/cupti/counters/range_session.h"

namespace xsigma::profiler::backends::cupti {

class RangeContexts {
 public:
  // At most so many bytes for images and results of all contexts together.
  RangeContexts(CounterApi api, std::vector<std::string> metrics, const RangeOptions& options, size_t bytes)
      : api_(std::move(api)), metrics_(std::move(metrics)), options_(options), budget_(bytes) {}

  // Those there are. An error: one of them cannot be counted.
  Status addUsed();
  // Null: it is not counted, or not yet.
  RangeSession* find(CUcontext context) const noexcept;
  // A context that has come up since; on its thread. Tried once for each.
  RangeSession* add(CUcontext context);
  // The context is about to go.
  void remove(CUcontext context);

  // With each session's turn taken. False: the deadline came first.
  template <typename Function>
  bool each(std::chrono::steady_clock::time_point deadline, Function&& function) {
    bool all = true;
    for (Slot& slot : slots_) {
      RangeSession* const session = slot.session.load(std::memory_order_acquire);
      if (session == nullptr) continue;
      if (!session->turn.takeUntil(deadline)) {
        all = false;
        continue;
      }
      function(*session);
      session->turn.giveBack();
    }
    return all;
  }

  const std::vector<std::string>& metrics() const { return metrics_; }
  // Of contexts that could not be added; empty if all could.
  const std::string& trouble() const { return trouble_; }

 private:
  static constexpr size_t kContexts = 64;
  struct Slot {
    std::atomic<CUcontext> context = nullptr;
    std::atomic<RangeSession*> session = nullptr;
    std::unique_ptr<MetricPlan> plan;
    std::unique_ptr<RangeSession> owned;
  };

  Status open(CUcontext context, int device);

  const CounterApi api_;
  const std::vector<std::string> metrics_;
  const RangeOptions options_;
  ByteBudget budget_;
  Turn adding_;
  std::atomic<size_t> used_ = 0;
  std::array<Slot, kContexts> slots_;
  std::string trouble_;
};

}  // namespace xsigma::profiler::backends::cupti
