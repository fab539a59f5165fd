// Built as libcuda.so.1: a program that has it loaded opens no other one under that name.
#include "stand_in_driver.h"

#include <utility>

using xsigma::profiler::test::StandInDriver;

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidHandle = 400;
constexpr int kCaptureImplicit = 906;

StandInDriver driver;

struct Event {
  float ms;
};

}  // namespace

extern "C" {

StandInDriver* standInDriver() { return &driver; }

int cuInit(unsigned) { return kSuccess; }
int cuDeviceGetCount(int* count) { return *count = driver.devices, kSuccess; }
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR_OF_THE_TEST", kSuccess; }
int cuCtxGetCurrent(void** context) { return *context = driver.current_context, kSuccess; }
int cuCtxSetCurrent(void* context) { return driver.current_context = context, kSuccess; }
int cuCtxPushCurrent_v2(void* context) { return driver.current_context = context, kSuccess; }
int cuCtxPopCurrent_v2(void** context) { return *context = std::exchange(driver.current_context, nullptr), kSuccess; }
int cuCtxGetDevice(int* device) { return *device = 0, kSuccess; }
int cuCtxSynchronize() { return kSuccess; }
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = &driver, kSuccess; }
int cuDevicePrimaryCtxRelease_v2(int) { return kSuccess; }
int cuStreamIsCapturing(void* stream, int* status) {
  *status = driver.capturing ? 1 : 0;
  return stream == nullptr && driver.default_stream_blocked ? kCaptureImplicit : kSuccess;
}
int cuThreadExchangeStreamCaptureMode(int* mode) { return std::swap(*mode, driver.mode), kSuccess; }
int cuEventCreate(void** event, unsigned flags) {
  ++driver.events;
  driver.last_flags = flags;
  *event = new Event{0};
  return kSuccess;
}
int cuEventDestroy_v2(void* event) {
  --driver.events;
  delete static_cast<Event*>(event);
  return kSuccess;
}
int cuEventRecord(void* event, void* stream) {
  if (driver.fail_records > 0) return --driver.fail_records, kInvalidHandle;
  ++driver.records;
  driver.last_stream = stream;
  static_cast<Event*>(event)->ms = driver.now_ms;
  return kSuccess;
}
int cuEventSynchronize(void*) { return ++driver.synchronised, kSuccess; }
int cuEventElapsedTime(float* ms, void* first, void* second) {
  driver.context_of_elapsed = driver.current_context;
  driver.mode_of_elapsed = driver.mode;
  *ms = static_cast<Event*>(second)->ms - static_cast<Event*>(first)->ms;
  return kSuccess;
}
}
