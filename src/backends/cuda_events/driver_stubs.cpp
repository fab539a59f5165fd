#include "driver_stubs.h"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "base/clock.h"
#include "base/dynamic_library.h"
#include "base/profiler_stubs.h"

namespace xsigma::profiler::backends::cuda_events {
namespace {

// The driver's interface, as far as it is used here.
using Result = int;
using Context = struct ContextOfDriver*;
using Stream = struct StreamOfDriver*;
using Event = struct EventOfDriver*;
constexpr Result kSuccess = 0;
constexpr unsigned kBlockingSync = 1;  // a thread that waits for the event sleeps
constexpr int kCaptureRelaxed = 2;     // what this thread does disturbs no capture of another one
constexpr int kNotCapturing = 0;

struct Driver {
  Result (*init)(unsigned flags);
  Result (*deviceGetCount)(int* count);
  Result (*getErrorName)(Result error, const char** name);
  Result (*ctxGetCurrent)(Context* context);
  Result (*ctxSetCurrent)(Context context);
  Result (*ctxPushCurrent)(Context context);
  Result (*ctxPopCurrent)(Context* context);
  Result (*ctxGetDevice)(int* device);
  Result (*ctxSynchronize)();
  Result (*primaryCtxRetain)(Context* context, int device);
  Result (*primaryCtxRelease)(int device);
  Result (*streamIsCapturing)(Stream stream, int* status);
  Result (*exchangeCaptureMode)(int* mode);
  Result (*eventCreate)(Event* event, unsigned flags);
  Result (*eventDestroy)(Event event);
  Result (*eventRecord)(Event event, Stream stream);
  Result (*eventSynchronize)(Event event);
  Result (*eventElapsedTime)(float* milliseconds, Event first, Event second);
};

// The name of the first function that is missing, or null.
const char* findAll(const base::DynamicLibrary& library, Driver& driver) {
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.find(name));
    if (function == nullptr && missing == nullptr) missing = name;
  };
  find(driver.init, "cuInit");
  find(driver.deviceGetCount, "cuDeviceGetCount");
  find(driver.getErrorName, "cuGetErrorName");
  find(driver.ctxGetCurrent, "cuCtxGetCurrent");
  find(driver.ctxSetCurrent, "cuCtxSetCurrent");
  find(driver.ctxPushCurrent, "cuCtxPushCurrent_v2");
  find(driver.ctxPopCurrent, "cuCtxPopCurrent_v2");
  find(driver.ctxGetDevice, "cuCtxGetDevice");
  find(driver.ctxSynchronize, "cuCtxSynchronize");
  find(driver.primaryCtxRetain, "cuDevicePrimaryCtxRetain");
  find(driver.primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  find(driver.streamIsCapturing, "cuStreamIsCapturing");
  find(driver.exchangeCaptureMode, "cuThreadExchangeStreamCaptureMode");
  find(driver.eventCreate, "cuEventCreate");
  find(driver.eventDestroy, "cuEventDestroy_v2");
  find(driver.eventRecord, "cuEventRecord");
  find(driver.eventSynchronize, "cuEventSynchronize");
  find(driver.eventElapsedTime, "cuEventElapsedTime");
  return missing;
}

std::string nameOf(const Driver& driver, Result error) {
  const char* name = nullptr;
  return driver.getErrorName(error, &name) == kSuccess && name != nullptr ? name : fmt::format("error {}", error);
}

struct HeldEvent {
  const Driver& driver;
  Context context;
  Event event = nullptr;

  HeldEvent(const Driver& used, Context made_in) : driver(used), context(made_in) {}
  ~HeldEvent() {
    if (event != nullptr) driver.eventDestroy(event);
  }
  HeldEvent(const HeldEvent&) = delete;
  HeldEvent& operator=(const HeldEvent&) = delete;
};

HeldEvent& heldBy(const ProfilerVoidEventStub& event) { return *static_cast<HeldEvent*>(event.get()); }

class DriverStubs final : public ProfilerStubs {
 public:
  explicit DriverStubs(const Driver& driver) : driver_(driver) {}

  void record(int* device, ProfilerVoidEventStub* event, int64_t* cpu_ns) const override {
    if (cpu_ns != nullptr) *cpu_ns = base::monotonicNs();
    if (device != nullptr) *device = -1;
    Context context = nullptr;
    if (driver_.ctxGetCurrent(&context) != kSuccess || context == nullptr) return;
    const auto stream = static_cast<Stream>(currentCudaStream());
    int capturing = kNotCapturing;
    // An error: the default stream, while another stream is being captured. Recording there would spoil the capture.
    if (driver_.streamIsCapturing(stream, &capturing) != kSuccess || capturing != kNotCapturing) return;
    const bool again =
        *event != nullptr && heldBy(*event).context == context && driver_.eventRecord(heldBy(*event).event, stream) == kSuccess;
    if (!again) {
      *event = newEvent(context);
      check(driver_.eventRecord(heldBy(*event).event, stream), "cuEventRecord");
    }
    if (device != nullptr) check(driver_.ctxGetDevice(device), "cuCtxGetDevice");
  }

  float elapsed(const ProfilerVoidEventStub* first, const ProfilerVoidEventStub* second) const override {
    const Current current(driver_, heldBy(*second).context);
    check(driver_.eventSynchronize(heldBy(*first).event), "cuEventSynchronize");
    check(driver_.eventSynchronize(heldBy(*second).event), "cuEventSynchronize");
    float milliseconds = 0;
    check(driver_.eventElapsedTime(&milliseconds, heldBy(*first).event, heldBy(*second).event), "cuEventElapsedTime");
    return milliseconds * 1000.0f;
  }

  void mark(const char*) const override { noTool(); }
  void rangePush(const char*) const override { noTool(); }
  void rangePop() const override { noTool(); }

  bool enabled() const override { return true; }

  void onEachDevice(const std::function<void(int)>& op) const override {
    int count = 0;
    check(driver_.deviceGetCount(&count), "cuDeviceGetCount");
    for (int device = 0; device < count; ++device) {
      Context context = nullptr;
      check(driver_.primaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
      {
        const Current current(driver_, context);
        op(device);
      }
      driver_.primaryCtxRelease(device);
    }
  }

  void synchronize() const override { check(driver_.ctxSynchronize(), "cuCtxSynchronize"); }

 private:
  // A context is the calling thread's current one for a while, and nothing it does spoils a capture.
  class Current {
   public:
    Current(const Driver& driver, Context context) : driver_(driver) {
      driver_.exchangeCaptureMode(&mode_);
      pushed_ = driver_.ctxPushCurrent(context) == kSuccess;
    }
    ~Current() {
      Context popped = nullptr;
      if (pushed_) driver_.ctxPopCurrent(&popped);
      driver_.exchangeCaptureMode(&mode_);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    const Driver& driver_;
    int mode_ = kCaptureRelaxed;
    bool pushed_ = false;
  };

  ProfilerVoidEventStub newEvent(Context context) const {
    int mode = kCaptureRelaxed;
    driver_.exchangeCaptureMode(&mode);
    auto held = std::make_shared<HeldEvent>(driver_, context);
    const Result result = driver_.eventCreate(&held->event, kBlockingSync);
    driver_.exchangeCaptureMode(&mode);
    check(result, "cuEventCreate");
    return held;
  }

  void check(Result result, const char* call) const {
    if (result != kSuccess) throw ProfilerError(fmt::format("timing by CUDA events: {} said {}", call, nameOf(driver_, result)));
  }

  [[noreturn]] void noTool() const {
    throw ProfilerError(
        "the CUDA methods of the library itself time devices, and tell other tools nothing. Use ProfilerState::NVTX, or register methods "
        "that do");
  }

  const Driver& driver_;
};

// Once for the process; neither the library nor the table is ever given up.
Status openDriver() {
  const Expected<base::DynamicLibrary> library = base::DynamicLibrary::open({"libcuda.so.1"});
  if (!library)
    return {StatusCode::unsupported, "no CUDA driver: " + library.message() + ". Install NVIDIA's driver, or run where there is one"};
  static auto& driver = *new Driver{};
  if (const char* const missing = findAll(*library, driver)) {
    return {StatusCode::unsupported,
            fmt::format("{} has no {}: it is too old. Install a driver for CUDA 10.1 or later", library->path(), missing)};
  }
  int count = 0;
  Result result = driver.init(0);
  if (result == kSuccess) result = driver.deviceGetCount(&count);
  if (result != kSuccess)
    return {StatusCode::unsupported,
            fmt::format("{} said {}. Is there a GPU, and may this process use it?", library->path(), nameOf(driver, result))};
  if (count == 0) return {StatusCode::unsupported, "the CUDA driver knows of no device. Check CUDA_VISIBLE_DEVICES"};
  base::provideCudaStubs(new DriverStubs(driver));
  return {};
}

}  // namespace

Status provideDriverStubs() {
  static auto& mutex = *new std::mutex;
  static bool provided = false;
  const std::lock_guard lock(mutex);
  if (provided) return {};
  Status status = openDriver();
  provided = status.ok();
  return status;
}

}  // namespace xsigma::profiler::backends::cuda_events
