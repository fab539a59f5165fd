#include "backends/cupti/process_hooks.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <new>
#include <thread>
#include <utility>

#include "backends/cupti/buffer_pool.h"
#include "backends/cupti/cupti_threads.h"
#include "backends/cupti/doorbell.h"
#include "base/own_thread.h"
#include "base/process_exit.h"

namespace xsigma::profiler::backends::cupti {
namespace {

bool isStartMark(CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept {
  return (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart) ||
         (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000);
}

bool isStopMark(CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept {
  return (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop) ||
         (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000);
}

// Calls after which the device has nothing to do.
constexpr CUpti_CallbackId kCtxSynchronizeV2 = 800;  // headers have it from 13.0 on
constexpr std::pair<CUpti_CallbackDomain, CUpti_CallbackId> kDeviceWaits[] = {
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize},
    {CUPTI_CB_DOMAIN_DRIVER_API, kCtxSynchronizeV2}};

bool isDeviceWait(CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept {
  return std::find(std::begin(kDeviceWaits), std::end(kDeviceWaits), std::pair(domain, id)) != std::end(kDeviceWaits);
}

bool isOverAndWell(const CUpti_CallbackData& call) noexcept {
  return call.callbackSite == CUPTI_API_EXIT &&
         (call.functionReturnValue == nullptr || *static_cast<const int*>(call.functionReturnValue) == 0);
}

// So long the program waits for CUPTI to leave; it takes two milliseconds where nobody else is inside of the driver.
constexpr std::chrono::milliseconds kMostFinalizing{20};
// So long when it exits: CUPTI's own clean-up follows.
constexpr std::chrono::milliseconds kMostAtExit{500};

}  // namespace

ProcessHooks& ProcessHooks::ofProcess() {
  static ProcessHooks& hooks = *new ProcessHooks;
  return hooks;
}

void ProcessHooks::arm(const CuptiLibrary& cupti, const BackendRequest& request) {
  static const int waits_at_exit = std::atexit([] { ofProcess().waitForFinalize(); });
  static_cast<void>(waits_at_exit);
  Doorbell::ofProcess();  // made here, not in a callback
  BufferPool::ofProcess();
  cupti_ = &cupti;
  host_ticks_ = request.host_ticks;
  marked_ = request.marked;
  for (GraphNode node; nodes_.pop(node);) {  // of a run before
  }
  nodes_.takeLost();
  armed_.store(true, std::memory_order_seq_cst);
}

bool ProcessHooks::disarm() noexcept {
  using namespace std::chrono_literals;
  armed_.store(false, std::memory_order_seq_cst);
  const auto most = std::chrono::steady_clock::now() + 100ms;
  while (inside_.load(std::memory_order_seq_cst) != 0 && std::chrono::steady_clock::now() < most) std::this_thread::sleep_for(100us);
  listener_.store(nullptr, std::memory_order_release);
  return inside_.load(std::memory_order_seq_cst) == 0;
}

void ProcessHooks::finalizeLater(const CuptiLibrary& cupti, CUpti_SubscriberHandle subscriber) noexcept {
  finalized_ = &cupti;
  last_subscriber_ = subscriber;
  finalizing_.store(kLater, std::memory_order_release);
  for (const auto& [domain, id] : kDeviceWaits) cupti.enable_callback(1, subscriber, domain, id);
}

// On a thread of the program, at the end of its call. On another one it is done, since it waits for a moment in which no thread is inside of the driver, which
// may not come for long.
void ProcessHooks::finalize() noexcept {
  if (base::processExits()) return;
  int later = kLater;
  if (!finalizing_.compare_exchange_strong(later, kNow, std::memory_order_acq_rel)) return;
  if (!CuptiThreads::ofProcess().othersAreGone()) return finalizing_.store(kLater, std::memory_order_release);  // at the next wait, then
  try {
    base::endsWithin(kMostFinalizing, "xsp-finalize", [this] { finalizeNow(); });
  } catch (const std::bad_alloc&) {
    finalizing_.store(kLater, std::memory_order_release);
  }
}

void ProcessHooks::finalizeNow() noexcept {
  CuptiThreads::ofProcess().noteThis();
  finalized_->unsubscribe(last_subscriber_);
  if (finalized_->finalize() == CUPTI_SUCCESS) BufferPool::ofProcess().reclaim();
  finalizing_.store(kNone, std::memory_order_release);
}

void ProcessHooks::waitForFinalize() noexcept {
  const auto most = std::chrono::steady_clock::now() + kMostAtExit;
  while (finalizing_.load(std::memory_order_acquire) == kNow && std::chrono::steady_clock::now() < most)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

bool ProcessHooks::settleFinalize(CUpti_SubscriberHandle& left) noexcept {
  using namespace std::chrono_literals;
  const auto most = std::chrono::steady_clock::now() + 2s;
  for (;; std::this_thread::sleep_for(100us)) {
    int state = kLater;
    if (finalizing_.compare_exchange_strong(state, kNow, std::memory_order_acq_rel)) {
      left = last_subscriber_;
      finalizing_.store(kNone, std::memory_order_release);
      return true;
    }
    // Whoever is at it may put it off again.
    if (state == kNone) return true;
    if (std::chrono::steady_clock::now() >= most) return false;
  }
}

void ProcessHooks::bufferRequested(uint8_t** buffer, size_t* size, size_t* most_records) noexcept {
  BufferPool& pool = BufferPool::ofProcess();
  *buffer = pool.take();
  *size = *buffer != nullptr ? pool.bufferBytes() : 0;
  *most_records = 0;
}

void ProcessHooks::bufferCompleted(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) noexcept {
  if (BufferPool::ofProcess().complete(buffer, valid)) Doorbell::ofProcess().ring();
}

void ProcessHooks::subscribed(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept {
  ProcessHooks& hooks = *static_cast<ProcessHooks*>(self);
  hooks.inside_.fetch_add(1, std::memory_order_seq_cst);
  if (hooks.finalizing_.load(std::memory_order_acquire) == kLater && data != nullptr && isDeviceWait(domain, id) &&
      isOverAndWell(*static_cast<const CUpti_CallbackData*>(data))) {
    hooks.finalize();
  }
  if (hooks.armed_.load(std::memory_order_seq_cst) && data != nullptr) {
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED || id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)) {
      hooks.nodeCreated(id, *static_cast<const CUpti_ResourceData*>(data));
    } else if (isStartMark(domain, id) || isStopMark(domain, id)) {
      hooks.marked(isStartMark(domain, id), *static_cast<const CUpti_CallbackData*>(data));
    }
    if (CallbackListener* const listener = hooks.listener_.load(std::memory_order_acquire)) listener->callback(domain, id, data);
  }
  hooks.inside_.fetch_sub(1, std::memory_order_seq_cst);
}

void ProcessHooks::nodeCreated(CUpti_CallbackId id, const CUpti_ResourceData& data) noexcept {
  const auto* const graph = static_cast<const CUpti_GraphData*>(data.resourceDescriptor);
  GraphNode node;
  if (graph == nullptr || cupti_->get_graph_node_id(graph->node, &node.node) != CUPTI_SUCCESS) return;
  if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED && graph->originalNode != nullptr) {
    cupti_->get_graph_node_id(graph->originalNode, &node.origin);
  }
  node.ticks = host_ticks_ != nullptr ? host_ticks_() : 0;
  node.thread = static_cast<uint32_t>(syscall(SYS_gettid));
  nodes_.push(node);
  constexpr uint64_t kWakeEach = GraphNodes::kCapacity / 8;
  if (nodes_.pushed() % kWakeEach == 0) Doorbell::ofProcess().ring();
}

// From the end of the call that begins to the beginning of the call that ends. A runtime's call is told twice: the driver's is inside it.
void ProcessHooks::marked(bool start, const CUpti_CallbackData& data) noexcept {
  if (!marked_) return;
  try {
    if (start && data.callbackSite == CUPTI_API_EXIT) marked_(true);
    if (!start && data.callbackSite == CUPTI_API_ENTER) marked_(false);
  } catch (...) {
    return;  // not the program's affair
  }
}

}  // namespace xsigma::profiler::backends::cupti
