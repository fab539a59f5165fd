#include "backends/cupti/counters/range_run.h"

#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "backends/cupti/counters/range_contexts.h"
#include "backends/cupti/cupti_threads.h"
#include "base/log.h"
#include "base/own_thread.h"

namespace xsigma::profiler::backends::cupti {
namespace {

using Callbacks = std::vector<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>>;

constexpr CUpti_CallbackId kDriverGraphLaunches[] = {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz};
constexpr CUpti_CallbackId kRuntimeGraphLaunches[] = {CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000,
                                                      CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000};

const Callbacks& launchCallbacks() {
  static const Callbacks& all = *new Callbacks{
      {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch},
      {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz},
      {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000},
      {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000},
      {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060},
      {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060},
      {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000},
      {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000},
      {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000},
      {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000},
  };
  return all;
}

bool isGraphLaunch(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const auto& ids = domain == CUPTI_CB_DOMAIN_DRIVER_API ? kDriverGraphLaunches : kRuntimeGraphLaunches;
  return std::find(std::begin(ids), std::end(ids), id) != std::end(ids);
}

// What a thread is inside of.
struct LaunchingThread {
  uint64_t run;           // which one this is about
  uint32_t depth;         // calls that began and have not ended: the runtime's, and the driver's inside of it
  uint32_t held_at;       // the depth of the one that has the turn
  RangeSession* holding;  // null: none has
  bool inside;            // ours: what the vendor's library launches meanwhile is not the program's
};
constinit thread_local LaunchingThread own{};
constinit std::atomic<uint64_t> last_run = 0;

class Inside {
 public:
  Inside() { own.inside = true; }
  ~Inside() { own.inside = false; }
};

std::string readableName(const std::string& symbol) {
  int status = 0;
  char* const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 && text != nullptr ? text : symbol;
  std::free(text);
  return name;
}

class RangeRun final : public CounterRun {
 public:
  RangeRun(std::shared_ptr<RangeContexts> contexts, bool per_kernel, std::shared_ptr<BackendOutput> output)
      : contexts_(std::move(contexts)), per_kernel_(per_kernel), output_(std::move(output)), run_(++last_run) {}

  const Callbacks& callbacks() const noexcept override { return launchCallbacks(); }

  void callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept override {
    if (own.inside) return;
    const Inside inside;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
      if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) contexts_->remove(static_cast<const CUpti_ResourceData*>(data)->context);
      return;
    }
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API && domain != CUPTI_CB_DOMAIN_RUNTIME_API) return;
    if (own.run != run_) own = {run_, 0, 0, nullptr, true};
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    if (call.callbackSite == CUPTI_API_ENTER) {
      ++own.depth;
      begin(call, isGraphLaunch(domain, id));
    } else if (own.depth > 0) {
      end(call);
      --own.depth;
    }
  }

  void setCollecting(bool on) noexcept override {
    const Inside inside;
    collecting_.store(on);
    contexts_->each(std::chrono::steady_clock::now() + std::chrono::seconds(10),
                    [&](RangeSession& session) { on ? session.begin() : session.halt(); });
  }

  // Ending a range waits for the device, so a thread does it. Kernels that are counted one by one are over when their launch is: then
  // there is nothing to wait for, but a launch that is under way, which sees to it itself.
  void stop() noexcept override {
    if (stopped_.exchange(true)) return;
    const Inside inside;
    if (per_kernel_) contexts_->each(std::chrono::steady_clock::now(), [](RangeSession& session) { session.halt(); });
    closing_started_ = closing_.start("xsp-counters", [contexts = contexts_] {
      CuptiThreads::ofProcess().noteThis();
      const Inside also_inside;
      contexts->each(std::chrono::steady_clock::time_point::max(), [](RangeSession& session) { session.close(); });
    });
  }

  bool drain(std::chrono::steady_clock::time_point deadline) noexcept override {
    stop();
    if (!closing_started_ || !closing_.waitUntil(deadline)) {
      output_->lost(DeviceLoss::not_counted, 1);
      base::warn("hardware counters: the device was still at work when the time for the last results was over; they are left out");
      return false;
    }
    RangeSession::LeftOut left_out;
    contexts_->each(deadline, [&](RangeSession& session) {
      put(session);
      left_out.graphs += session.leftOut().graphs;
      left_out.kernels += session.leftOut().kernels;
    });
    tell(left_out);
    if (!contexts_->trouble().empty()) base::warn("hardware counters: " + contexts_->trouble());
    return true;
  }

 private:
  void begin(const CUpti_CallbackData& call, bool graph) noexcept {
    if (own.holding != nullptr || call.context == nullptr || stopped_.load() || !collecting_.load()) return;
    RangeSession* session = contexts_->find(call.context);
    if (session == nullptr) {
      session = contexts_->add(call.context);
      if (session != nullptr && !per_kernel_) {
        session->turn.take();
        session->begin();
        session->turn.giveBack();
      }
    }
    if (session == nullptr || !per_kernel_) return;
    session->turn.take();
    if (stopped_.load() || !collecting_.load()) {
      session->turn.giveBack();
      return;
    }
    const char* const name = call.symbolName != nullptr ? call.symbolName : "kernel";
    session->beginLaunch(graph ? nullptr : name, call.correlationId);
    own.holding = session;
    own.held_at = own.depth;
  }

  void end(const CUpti_CallbackData& call) noexcept {
    if (own.holding == nullptr || own.depth != own.held_at) return;
    RangeSession* const session = std::exchange(own.holding, nullptr);
    const bool failed = call.functionReturnValue != nullptr && *static_cast<const int*>(call.functionReturnValue) != 0;
    session->endLaunch(failed);
    if (stopped_.load() || !collecting_.load()) session->halt();
    session->turn.giveBack();
  }

  void tell(const RangeSession::LeftOut& left_out) {
    if (left_out.graphs + left_out.kernels == 0) return;
    output_->property("xsigmaNotCounted", fmt::format("{{\"graphs\": {}, \"kernels\": {}}}", left_out.graphs, left_out.kernels));
    base::warn(fmt::format(
        "hardware counters: {} launches of graphs and {} of kernels have no numbers: CUPTI left them out when it counted kernels "
        "one by one. Counters of the whole session (profiler_measure_per_kernel = false) have them in their sum",
        left_out.graphs, left_out.kernels));
  }

  void put(RangeSession& session) {
    std::string form;
    for (const std::string& metric : contexts_->metrics()) form += fmt::format("{}\"{}\": {}", form.empty() ? "" : ", ", metric, kArgReal);
    const int64_t row = kCounterRow + rows_[session.device()]++;
    if (!session.results().empty()) output_->row(session.device(), row, "hardware counters", row);
    DeviceActivity activity;
    activity.role = DeviceRole::note;
    activity.type = libkineto::ActivityType::CUDA_PROFILER_RANGE;
    activity.process_id = session.device();
    activity.thread_id = row;
    activity.form = output_->text(form);
    std::unordered_map<std::string, uint32_t> names;
    std::vector<int64_t> values;
    for (const RangeResult& result : session.results()) {
      uint32_t& name = names[result.name];
      if (name == 0) name = output_->text(readableName(result.name));
      values.clear();
      for (const double value : result.values) values.push_back(std::bit_cast<int64_t>(value));
      activity.name = name;
      activity.start = result.start;
      activity.end = result.end;
      activity.correlation = result.correlation;
      activity.values = values.data();
      activity.value_count = static_cast<uint32_t>(values.size());
      output_->put(activity);
    }
    if (session.lost() > 0) output_->lost(DeviceLoss::not_counted, session.lost());
    if (!session.trouble().empty()) base::warn("hardware counters: " + session.trouble());
  }

  const std::shared_ptr<RangeContexts> contexts_;
  const bool per_kernel_;
  const std::shared_ptr<BackendOutput> output_;
  const uint64_t run_;
  std::atomic<bool> collecting_ = true;
  std::atomic<bool> stopped_ = false;
  base::OwnThread closing_;
  bool closing_started_ = false;
  std::unordered_map<int, int64_t> rows_;
};

}  // namespace

Expected<std::unique_ptr<CounterRun>> startRanges(CounterApi api, const BackendRequest& request, std::shared_ptr<BackendOutput> output) {
  const Inside inside;
  RangeOptions options;
  options.per_kernel = request.metrics_per_kernel;
  options.host_ticks = request.host_ticks;
  auto contexts = std::make_shared<RangeContexts>(std::move(api), request.metrics, options, counterBytes(request));
  if (Status status = contexts->addUsed(); !status) return status;
  contexts->each(std::chrono::steady_clock::now(), [](RangeSession& session) { session.begin(); });
  return std::unique_ptr<CounterRun>(std::make_unique<RangeRun>(std::move(contexts), options.per_kernel, std::move(output)));
}

}  // namespace xsigma::profiler::backends::cupti
