// LiveCapture: a sink that threads write to, from start to stop. Recording and RecordQueue are made of it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/loaded_modules.h"
#include "capture/sink.h"
#include "collect/device_output.h"
#include "instrument/process_state.h"
#include "instrument/thread_registry.h"
#include "xsigma/profiler/capture.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler::collect {

enum class Feed { scopes, by_hand };

// Who is recorded, and what of it.
struct Audience {
  Feed feed = Feed::scopes;
  bool joined_only = false;                        // threads that join(), instead of all
  uint32_t scopes = instrument::kAllScopes;        // bits of RecordScope
  bool memory = true;                              // reportMemoryUsage and the like
  bool stacks = false;                             // native frames at every begin
  std::vector<std::string> performance_events = {};  // counters of the CPU, read at every begin and end
};

class LiveCapture {
 public:
  static Expected<std::unique_ptr<LiveCapture>> start(const CaptureOptions& options, const Audience& audience = {});
  ~LiveCapture();
  LiveCapture(const LiveCapture&) = delete;
  LiveCapture& operator=(const LiveCapture&) = delete;

  // The recording ends at once. With devices, what they still have is fetched behind it: `drain` runs on another thread, and whoever reads the capture
  // waits for its end.
  Capture stop(std::function<void()> drain = {});
  Capture snapshot() const;
  // Where a backend puts its records, until drain has returned. Before stop().
  std::shared_ptr<DeviceOutput> openDevices(std::string_view backend);
  // The backend could not be started after all: it puts nothing any more.
  void dropDevices(const std::shared_ptr<DeviceOutput>& output) noexcept;

  // The calling thread takes part from now on, or no longer. Only with joined_only.
  void join() noexcept;
  void leave() noexcept;
  // Switches the recording of begins and marks off and on. Scopes that are open get their end.
  void setCollecting(bool on) noexcept;
  void addProperty(std::string_view key, std::string_view json) noexcept;
  // Runs act(writer, slot) with this thread's writer, inside the gate. Nothing after stop. Re-entry is counted as a scope or as something beside one.
  template <typename Act>
  void write(Act act, bool scope = false) noexcept;

  uint32_t session() const noexcept { return session_; }
  uint32_t startEpoch() const noexcept { return start_epoch_; }
  // False once stop has begun.
  bool running() const noexcept { return !stopped_.load(std::memory_order_seq_cst); }

 private:
  LiveCapture() = default;
  bool isForked() const noexcept;
  Capture finishedByParent() const;
  void stopThreads();
  Capture finishBehind(std::function<void()> drain);
  bool attached(instrument::ThreadSlot& slot, capture::Writer& writer) noexcept;

  mutable std::mutex mutex_;  // of the three below
  std::shared_ptr<capture::Sink> sink_;
  Capture finished_;
  std::vector<std::shared_ptr<DeviceOutput>> devices_;
  uint32_t session_ = 0;
  uint32_t start_epoch_ = 0;
  int process_id_ = 0;
  uint64_t unattached_drops_before_ = 0;
  std::vector<base::LoadedModule> modules_;  // if stacks are recorded: those that the capture has
  std::atomic<bool> stopped_{false};
};

template <typename Act>
void LiveCapture::write(Act act, bool scope) noexcept {
  using namespace instrument;
  ThreadSlot* const slot = attachThread();
  if (slot == nullptr) return;
  const uint64_t was = gate.enter();
  capture::Writer& writer = slot->writerOf(session_);
  if (was == kBusy) {
    if (writer.sink() != nullptr) writer.noteReentrant(scope);
    return;
  }
  if (running() && attached(*slot, writer)) act(writer, *slot);
  gate.leave(was);
}

// What a counter read says in the writer's capture.
inline uint64_t ticksNow(const capture::Writer& writer) noexcept {
  return writer.sink()->counterIsClock() ? static_cast<uint64_t>(base::monotonicNs()) : base::readTicks();
}

}  // namespace xsigma::profiler::collect
