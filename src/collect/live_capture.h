// LiveCapture: a sink that threads write to, from start to stop. Recording and RecordQueue are made of it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "capture/sink.h"
#include "xsigma/profiler/capture.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler::collect {

enum class Feed { scopes, by_hand };

class LiveCapture {
 public:
  static Expected<std::unique_ptr<LiveCapture>> start(const CaptureOptions& options, Feed feed);
  ~LiveCapture();
  LiveCapture(const LiveCapture&) = delete;
  LiveCapture& operator=(const LiveCapture&) = delete;

  Capture stop();
  Capture snapshot() const;

  uint32_t session() const noexcept { return session_; }
  uint32_t startEpoch() const noexcept { return start_epoch_; }
  // False once stop has begun.
  bool running() const noexcept { return !stopped_.load(std::memory_order_seq_cst); }

 private:
  LiveCapture() = default;

  mutable std::mutex mutex_;  // of the two below
  std::shared_ptr<capture::Sink> sink_;
  Capture finished_;
  uint32_t session_ = 0;
  uint32_t start_epoch_ = 0;
  int process_id_ = 0;
  uint64_t unattached_drops_before_ = 0;
  std::atomic<bool> stopped_{false};
};

}  // namespace xsigma::profiler::collect
