// Times every recorded scope by an event of the device at its begin and one at its end: device time where the vendor's profiling library cannot be used. Two
// events a scope cost microseconds, and they tell how long the stream took from one to the other, not which kernels ran.
#include <new>

#include "base/quiet_thread.h"
#include "driver_stubs.h"
#include "timing.h"

namespace xsigma::profiler::backends {
namespace cuda_events {
namespace {

// The run that scopes are timed for. It lives until no callback can be inside it any more.
constinit std::atomic<Timing*> watching{nullptr};

// Between begin and end of a scope, in the memory of its range, which another scope may have as soon as this is gone.
struct OpenRange final : ObserverContext {
  explicit OpenRange(Range& held) : range(held) {}
  static void operator delete(OpenRange* open, std::destroying_delete_t) noexcept {
    Range& held = open->range;
    open->~OpenRange();
    RangePool::instance().release(held);
  }

  Range& range;
};
static_assert(sizeof(OpenRange) <= sizeof(Range::open_bytes));

// The run of this process, if there is one. A forked child inherits its parent's, which nobody ends there: it then costs no more.
Timing* watchingHere() noexcept {
  Timing* timing = watching.load(std::memory_order_acquire);
  if (timing == nullptr || timing->isOfThisProcess()) return timing;
  if (watching.compare_exchange_strong(timing, nullptr)) timing->endCallbacks();
  return nullptr;
}

std::unique_ptr<ObserverContext> onBegin(const RecordFunction&) {
  Timing* const timing = watchingHere();
  Range* const range = timing != nullptr ? timing->begin() : nullptr;
  if (range == nullptr) return nullptr;
  return std::unique_ptr<ObserverContext>(::new (static_cast<void*>(range->open_bytes)) OpenRange(*range));
}

void onEnd(const RecordFunction& function, ObserverContext* context) {
  Timing* const timing = watchingHere();
  if (timing != nullptr && context != nullptr) timing->end(static_cast<OpenRange*>(context)->range, function);
}

class EventRun final : public BackendRun {
 public:
  EventRun(const ProfilerStubs& stubs, const BackendRequest& request, std::shared_ptr<BackendOutput> output)
      : timing_(std::make_shared<Timing>(stubs, request, std::move(output))) {
    // What may wait for the device is done there: a device that hangs must not hang the session.
    base::startQuietThread("xsp-cuda-events", [timing = timing_] { timing->work(); }).detach();
    watching.store(timing_.get(), std::memory_order_release);
    try {
      timing_->beginCallbacks(RecordFunctionCallback(onBegin, onEnd));
    } catch (...) {
      stop();
      timing_->drain(std::chrono::steady_clock::now());
      throw;
    }
  }
  ~EventRun() override { drain(std::chrono::steady_clock::now()); }

  void setCollecting(bool on) noexcept override { timing_->setCollecting(on); }

  void stop() noexcept override {
    Timing* own = timing_.get();
    watching.compare_exchange_strong(own, nullptr);
    timing_->endCallbacks();
  }

  bool drain(std::chrono::steady_clock::time_point deadline) noexcept override {
    stop();
    return !timing_->isOfThisProcess() || timing_->drain(deadline);  // in a forked child there is no worker: the parent's does it
  }

 private:
  std::shared_ptr<Timing> timing_;
};

class EventBackend final : public Backend {
 public:
  std::string_view name() const noexcept override { return "cuda_events"; }
  std::string_view device() const noexcept override { return "CUDA"; }
  bool isFallback() const noexcept override { return true; }

  Status available() override {
    if (cudaStubs()->enabled()) return {};
    return provideDriverStubs();
  }
  // The first event of a thread initialises nothing: there is nothing to prepare but the pool.
  Status prepare(const BackendRequest&) override {
    RangePool::instance();
    return available();
  }
  Expected<std::unique_ptr<BackendRun>> start(const BackendRequest& request, std::shared_ptr<BackendOutput> output) override {
    if (Status status = prepare(request); !status) return status;
    if (watchingHere() != nullptr) {
      return Status(StatusCode::busy, "scopes are being timed by CUDA events for another session already. Stop that one first");
    }
    try {
      return std::unique_ptr<BackendRun>(std::make_unique<EventRun>(*cudaStubs(), request, std::move(output)));
    } catch (const std::exception& error) {
      return Status(StatusCode::busy, std::string("scopes cannot be timed by CUDA events: no thread or memory to be had: ") + error.what());
    }
  }
};

}  // namespace
}  // namespace cuda_events

void add_cuda_events(std::vector<Backend*>& all) {
  static auto& backend = *new cuda_events::EventBackend;
  all.push_back(&backend);
}

}  // namespace xsigma::profiler::backends
