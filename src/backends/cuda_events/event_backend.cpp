// Times every recorded scope by an event of the device at its begin and one at its end: device time where the vendor's profiling library cannot be used. Two
// events a scope cost microseconds, and they tell how long the stream took from one to the other, not which kernels ran.
#include <unistd.h>

#include <signal.h>

#include <new>
#include <thread>

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

std::unique_ptr<ObserverContext> onBegin(const RecordFunction&) {
  Timing* const timing = watching.load(std::memory_order_acquire);
  Range* const range = timing != nullptr ? timing->begin() : nullptr;
  if (range == nullptr) return nullptr;
  return std::unique_ptr<ObserverContext>(::new (static_cast<void*>(range->open_bytes)) OpenRange(*range));
}

void onEnd(const RecordFunction& function, ObserverContext* context) {
  Timing* const timing = watching.load(std::memory_order_acquire);
  if (timing != nullptr && context != nullptr) timing->end(static_cast<OpenRange*>(context)->range, function);
}

class EventRun final : public BackendRun {
 public:
  EventRun(const ProfilerStubs& stubs, const BackendRequest& request, std::shared_ptr<BackendOutput> output)
      : timing_(std::make_shared<Timing>(stubs, request, std::move(output))) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread([timing = timing_] { timing->work(); }).detach();  // a device that hangs must not hang the session
    } catch (...) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    watching.store(timing_.get(), std::memory_order_release);
    handle_ = addGlobalCallback(RecordFunctionCallback(onBegin, onEnd));
  }
  ~EventRun() override { drain(std::chrono::steady_clock::now()); }

  void setCollecting(bool on) noexcept override { timing_->setCollecting(on); }

  void stop() noexcept override { watching.store(nullptr, std::memory_order_release); }

  bool drain(std::chrono::steady_clock::time_point deadline) noexcept override {
    stop();
    if (getpid() != process_id_) return true;  // the parent's thread does it
    if (handle_ != INVALID_CALLBACK_HANDLE)
      removeCallback(std::exchange(handle_, INVALID_CALLBACK_HANDLE));  // waits for threads that are inside
    return timing_->drain(deadline);
  }

 private:
  const pid_t process_id_ = getpid();
  std::shared_ptr<Timing> timing_;
  CallbackHandle handle_ = INVALID_CALLBACK_HANDLE;
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
    if (watching.load(std::memory_order_acquire) != nullptr) {
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
