#include "backends/cupti/attachment.h"

#include <fmt/format.h>

#include <new>
#include <optional>
#include <utility>

#include "backends/cupti/buffer_pool.h"
#include "backends/cupti/call_filter.h"
#include "backends/cupti/cupti_threads.h"
#include "backends/cupti/layouts.h"
#include "backends/cupti/other_tools.h"
#include "backends/cupti/process_hooks.h"
#include "base/environment.h"
#include "base/json_text.h"

namespace xsigma::profiler::backends::cupti {
namespace {

// Graphs, where nodes get their numbers; and where the program marks begin and end.
constexpr std::pair<CUpti_CallbackDomain, CUpti_CallbackId> kGraphCallbacks[] = {
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED}, {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED}};
constexpr std::pair<CUpti_CallbackDomain, CUpti_CallbackId> kMarkCallbacks[] = {
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000}};

// Whether CUPTI is taken out of the process again. Before 12.6 it was not safe beside a program that goes on calling CUDA.
bool shouldFinalize(const CuptiLibrary& cupti) {
  if (cupti.finalize == nullptr) return false;
  if (const std::optional<std::string> told = base::environmentText("XSIGMA_PROFILER_CUPTI_FINALIZE")) return *told != "0";
  return cupti.version >= kCupti12_6;
}

}  // namespace

Expected<std::unique_ptr<Attachment>> Attachment::attach(const CuptiLibrary& cupti, const BackendRequest& request) {
  std::unique_ptr<Attachment> attachment(new Attachment(cupti, request));
  ProcessHooks& hooks = ProcessHooks::ofProcess();
  CUpti_SubscriberHandle left = nullptr;
  if (!hooks.settleFinalize(left)) return Status(StatusCode::busy, "CUPTI is just being taken out of the process. Try again in a moment");
  hooks.arm(cupti, request);
  CUptiResult result = cupti.subscribe(&attachment->subscriber_, &ProcessHooks::subscribed, &hooks);
  if (result != CUPTI_SUCCESS && left != nullptr) {  // otherwise it is gone, and the handle must not be used
    cupti.unsubscribe(left);
    result = cupti.subscribe(&attachment->subscriber_, &ProcessHooks::subscribed, &hooks);
  }
  if (result != CUPTI_SUCCESS) {
    hooks.disarm();
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
      return Status(StatusCode::busy,
                    fmt::format("another tool in this process has CUPTI already, which serves one at a time. {}End it, or record "
                                "without CUDA",
                                likelyHolders(cupti)));
    }
    return Status(StatusCode::unsupported, fmt::format("CUPTI ({}) refuses to be used: {}", cupti.file.path(), cupti.errorText(result)));
  }
  attachment->attached_ = true;

  // Each thread that calls CUDA by the number that the system gives it; CUPTI's default are addresses.
  if (cupti.set_thread_id_type != nullptr) cupti.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  if (cupti.set_attribute != nullptr) {
    uint8_t zeroed = 1;  // by the worker: CUPTI would do it on the program's thread
    size_t size = sizeof zeroed;
    cupti.set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
  }
  if (request.host_ticks != nullptr) {
    result =
        cupti.register_timestamp_callback != nullptr ? cupti.register_timestamp_callback(request.host_ticks) : CUPTI_ERROR_NOT_SUPPORTED;
    if (result != CUPTI_SUCCESS) {
      return Status(StatusCode::unsupported, fmt::format("CUPTI does not take the clock of the capture: {}", cupti.errorText(result)));
    }
  }
  result = cupti.register_callbacks(&ProcessHooks::bufferRequested, &ProcessHooks::bufferCompleted);
  if (result != CUPTI_SUCCESS) {
    return Status(StatusCode::unsupported, fmt::format("CUPTI takes no buffers: {}", cupti.errorText(result)));
  }
  return attachment;
}

Attachment::~Attachment() { letGo(); }

CUptiResult Attachment::enableOne(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      if (cupti_.enable_event_timestamps != nullptr) cupti_.enable_event_timestamps(1);
      return cupti_.enable(kind);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const CUptiResult result = cupti_.enable(kind);
      if (result == CUPTI_SUCCESS) leaveOutAtSource(cupti_, kind == CUPTI_ACTIVITY_KIND_DRIVER);
      return result;
    }
    default: return cupti_.enable(kind);
  }
}

Status Attachment::enable() {
  refused_.clear();
  callbacks_wanted_.store(true, std::memory_order_relaxed);
  enableCallbacks(1);
  for (const WantedKind& wanted : kinds_) {
    const CUptiResult result = enableOne(wanted.kind);
    if (result == CUPTI_SUCCESS) continue;
    if (wanted.needed) {
      disable();
      disableCallbacks();
      return {StatusCode::unsupported,
              fmt::format("CUPTI ({}) does not record {}: {}", cupti_.file.path(), wanted.name, cupti_.errorText(result))};
    }
    refused_ += fmt::format("{}{}: {}", refused_.empty() ? "" : ", ", base::quoted(wanted.name), base::quoted(cupti_.errorText(result)));
  }
  return {};
}

void Attachment::disable() noexcept {
  for (auto wanted = kinds_.rbegin(); wanted != kinds_.rend(); ++wanted) {
    cupti_.disable(wanted->kind);
    if (wanted->kind == CUPTI_ACTIVITY_KIND_CUDA_EVENT && cupti_.enable_event_timestamps != nullptr) cupti_.enable_event_timestamps(0);
  }
}

void Attachment::listen(std::shared_ptr<CallbackListener> listener,
                        const std::vector<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>>& callbacks) {
  listener_ = std::move(listener);
  ProcessHooks::ofProcess().listen(listener_.get());
  listened_ = callbacks;
  for (const auto& [domain, id] : listened_) cupti_.enable_callback(1, subscriber_, domain, id);
}

void Attachment::enableCallbacks(uint32_t on) noexcept {
  if (cupti_.get_graph_node_id != nullptr) {
    for (const auto& [domain, id] : kGraphCallbacks) cupti_.enable_callback(on, subscriber_, domain, id);
  }
  if (request_.marked) {
    for (const auto& [domain, id] : kMarkCallbacks) cupti_.enable_callback(on, subscriber_, domain, id);
  }
}

void Attachment::disableCallbacks() noexcept {
  callbacks_wanted_.store(false, std::memory_order_relaxed);
  enableCallbacks(0);
}

void Attachment::renewCallbacks() noexcept {
  if (callbacks_wanted_.load(std::memory_order_relaxed)) enableCallbacks(1);
}

void Attachment::letGo() noexcept {
  if (!attached_) return;
  attached_ = false;
  for (const auto& [domain, id] : listened_) cupti_.enable_callback(0, subscriber_, domain, id);
  cupti_.unsubscribe(subscriber_);
  forgetListener();
}

void Attachment::forgetListener() noexcept {
  if (!ProcessHooks::ofProcess().disarm() && listener_ != nullptr) {
    static_cast<void>(new (std::nothrow) std::shared_ptr<CallbackListener>(listener_));
  }
}

void Attachment::detach() noexcept {
  if (!attached_ || !shouldFinalize(cupti_)) return letGo();
  if (base::environmentText("XSIGMA_PROFILER_CUPTI_FINALIZE").value_or("") == "now" && CuptiThreads::ofProcess().othersAreGone()) {
    letGo();
    if (cupti_.finalize() == CUPTI_SUCCESS) BufferPool::ofProcess().reclaim();
    return;
  }
  attached_ = false;
  for (const auto& [domain, id] : listened_) cupti_.enable_callback(0, subscriber_, domain, id);
  forgetListener();
  ProcessHooks::ofProcess().finalizeLater(cupti_, subscriber_);
}

}  // namespace xsigma::profiler::backends::cupti
