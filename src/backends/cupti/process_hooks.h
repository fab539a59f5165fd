// ProcessHooks: what CUPTI calls, on threads of the program and of its own. One for the process and never gone, since a callback may be on its way when
// everything else has ended. Nothing here locks, allocates or throws; what the program's marks and a listener of
// counters set off may.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "backends/cupti/callback_listener.h"
#include "backends/cupti/cupti_library.h"
#include "backends/cupti/graph_nodes.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::cupti {

class ProcessHooks {
 public:
  static ProcessHooks& ofProcess();

  // One at a time; between them is disarm().
  void arm(const CuptiLibrary& cupti, const BackendRequest& request);
  void listen(CallbackListener* listener) noexcept { listener_.store(listener, std::memory_order_release); }
  // Waits until no callback is inside any more, but not for ever: one that itself ends the run is. False: one still is.
  bool disarm() noexcept;

  GraphNodes& nodes() { return nodes_; }

  // CUPTI is taken out of the process when a call into CUDA that waited for the whole device has ended: it would wait for kernels that run, and let nobody
  // launch meanwhile. After disarm().
  void finalizeLater(const CuptiLibrary& cupti, CUpti_SubscriberHandle subscriber) noexcept;
  // Before CUPTI is used again: what was left for later is not done any more, or is over. False: it is still being done. `left`: who is subscribed for it, or
  // was, if another tool has finalized CUPTI since; null if nobody.
  bool settleFinalize(CUpti_SubscriberHandle& left) noexcept;

  static void CUPTIAPI bufferRequested(uint8_t** buffer, size_t* size, size_t* most_records) noexcept;
  static void CUPTIAPI bufferCompleted(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) noexcept;
  static void CUPTIAPI subscribed(void* hooks, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept;

 private:
  void nodeCreated(CUpti_CallbackId id, const CUpti_ResourceData& data) noexcept;
  void marked(bool start, const CUpti_CallbackData& data) noexcept;
  void finalize() noexcept;
  void finalizeNow() noexcept;
  void waitForFinalize() noexcept;

  std::atomic<bool> armed_{false};
  std::atomic<uint32_t> inside_{0};  // callbacks that may look at what follows
  const CuptiLibrary* cupti_ = nullptr;
  uint64_t (*host_ticks_)() noexcept = nullptr;
  std::function<void(bool on)> marked_;
  std::atomic<CallbackListener*> listener_{nullptr};
  GraphNodes nodes_;

  enum Finalizing : int { kNone, kLater, kNow };
  std::atomic<int> finalizing_{kNone};
  const CuptiLibrary* finalized_ = nullptr;
  CUpti_SubscriberHandle last_subscriber_ = nullptr;
};

}  // namespace xsigma::profiler::backends::cupti
