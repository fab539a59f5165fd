// Counting on the stand-in card, as a backend does it.
#pragma once

#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <time.h>

#include <atomic>
#include <bit>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/cupti/counters/counters.h"
#include "fake_card.h"
#include "locked_output.h"

namespace counting {

using namespace xsigma::profiler;
using namespace xsigma::profiler::backends::cupti;
using namespace std::chrono_literals;

inline const base::DynamicLibrary& library() {
  static const base::DynamicLibrary opened = base::DynamicLibrary::open({XSIGMA_FAKE_CARD}).value();
  return opened;
}
inline FakeCard& card() { return *library().function<FakeCard*()>("fake_card")(); }

inline uint64_t hostTicks() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

struct Kept final : BackendOutput {
  struct Activity {
    DeviceActivity put;
    std::string name;
    std::string form;
    std::vector<double> values;
  };
  uint32_t text(std::string_view text) noexcept override {
    texts.emplace_back(text);
    return static_cast<uint32_t>(texts.size());
  }
  void put(const DeviceActivity& activity) noexcept override {
    Activity kept{activity, textOf(activity.name), textOf(activity.form), {}};
    for (uint32_t i = 0; i < activity.value_count; ++i) kept.values.push_back(std::bit_cast<double>(activity.values[i]));
    activities.push_back(std::move(kept));
  }
  void clockPair(uint8_t clock, uint64_t device, uint64_t host) noexcept override { pairs[clock].emplace_back(device, host); }
  void lost(DeviceLoss cause, uint64_t count) noexcept override { losses[cause] += count; }
  void row(int64_t process, int64_t thread, std::string_view name, int64_t) noexcept override { rows[{process, thread}] = name; }
  void property(std::string_view key, std::string_view json) noexcept override { properties[std::string(key)] = json; }
  std::string textOf(uint32_t number) const { return number == 0 ? "" : texts[number - 1]; }

  std::vector<std::string> texts;
  std::vector<Activity> activities;
  std::map<uint8_t, std::vector<std::pair<uint64_t, uint64_t>>> pairs;
  std::map<DeviceLoss, uint64_t> losses;
  std::map<std::pair<int64_t, int64_t>, std::string> rows;
  std::map<std::string, std::string> properties;
};

// The program's contexts.
inline char other_context;
inline CUcontext primary() {
  CUcontext context = nullptr;
  library().function<CUresult(CUcontext*, CUdevice)>("cuDevicePrimaryCtxRetain")(&context, 0);
  return context;
}
inline CUcontext later() { return reinterpret_cast<CUcontext>(&other_context); }

class Counting {
 public:
  explicit Counting(std::vector<std::string> metrics, bool per_kernel, std::chrono::microseconds interval = {},
                    size_t buffer_bytes = size_t{64} << 20) {
    request.metrics = std::move(metrics);
    request.metrics_per_kernel = per_kernel;
    request.sample_interval = interval;
    request.host_ticks = &hostTicks;
    request.buffer_bytes = buffer_bytes;
    auto started = startCounters({library(), 5}, request, std::make_shared<LockedOutput>(kept));
    if (started) run = std::move(*started);
    refused = started.message();
  }
  ~Counting() {
    if (run != nullptr) finish();
  }

  // A launch as the runtime does it: the driver's inside of the runtime's.
  void launch(const char* kernel, double blocks, CUcontext context = primary(), int result = 0) {
    const uint32_t correlation = ++correlation_;
    call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_API_ENTER, kernel, context, correlation, 0);
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_API_ENTER, kernel, context, correlation, 0);
    if (launch_takes > 0us) std::this_thread::sleep_for(launch_takes);
    if (result == 0) runKernel(context, blocks);
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_API_EXIT, kernel, context, correlation, result);
    call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_API_EXIT, kernel, context, correlation,
         result);
  }
  void launchGraph(const std::vector<double>& kernels) {
    const uint32_t correlation = ++correlation_;
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_API_ENTER, nullptr, primary(), correlation, 0);
    for (const double blocks : kernels) runKernel(primary(), blocks);
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_API_EXIT, nullptr, primary(), correlation, 0);
  }
  void destroy(CUcontext context) {
    CUpti_ResourceData data{};
    data.context = context;
    run->callback(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, &data);
  }
  static void runKernel(CUcontext context, double blocks) { library().function<void(void*, double)>("fake_run_kernel")(context, blocks); }
  void call(CUpti_CallbackDomain domain, CUpti_CallbackId id, CUpti_ApiCallbackSite site, const char* kernel, CUcontext context,
            uint32_t correlation, int result) {
    CUpti_CallbackData data{};
    data.callbackSite = site;
    data.symbolName = kernel;
    data.context = context;
    data.correlationId = correlation;
    data.functionReturnValue = &result;
    run->callback(domain, id, &data);
  }
  bool finish(std::chrono::milliseconds allowed = 10s) {
    run->stop();
    const bool all = run->drain(std::chrono::steady_clock::now() + allowed);
    run.reset();
    return all;
  }

  BackendRequest request;
  std::shared_ptr<Kept> kept = std::make_shared<Kept>();
  std::unique_ptr<CounterRun> run;
  std::string refused;
  std::chrono::microseconds launch_takes{0};  // before its kernel runs: other threads get ahead where they may

 private:
  std::atomic<uint32_t> correlation_ = 100;
};

}  // namespace counting
