// ProfilerStubs: what timing a device by events takes, as a table of calls that anybody can provide; and the stream that a thread works on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "xsigma/profiler/export.h"

namespace xsigma::profiler {

// An event of a device, of a type that only those know who made it.
using ProfilerVoidEventStub = std::shared_ptr<void>;

// The calls of one kind of device. Any thread may use them; what goes wrong throws ProfilerError. Whoever registers an object keeps it alive until another
// one is registered and no session uses it.
class XSIGMA_PROFILER_API ProfilerStubs {
 public:
  virtual ~ProfilerStubs();

  // Puts an event behind what the calling thread's current stream has been given so far. *event is null, or an event that this object has made and that
  // nobody needs any more: it is used again where possible. *device becomes the device's index, or −1 where there is nothing to time: the thread has no
  // device yet, or its stream is being captured into a graph. *event stays as it is then. *cpu_ns becomes CLOCK_MONOTONIC. Null pointers are left alone, but for event.
  virtual void record(int* device, ProfilerVoidEventStub* event, int64_t* cpu_ns) const = 0;
  // Microseconds from one event to the other, below zero if they come in the other order. Waits until the device has reached both.
  virtual float elapsed(const ProfilerVoidEventStub* first, const ProfilerVoidEventStub* second) const = 0;
  // For tools that watch.
  virtual void mark(const char* name) const = 0;
  virtual void rangePush(const char* name) const = 0;
  virtual void rangePop() const = 0;
  // Whether there is a device, and all of this works. The others may be called only then.
  virtual bool enabled() const { return false; }
  // Calls op with the index of each device, which is the calling thread's current one meanwhile.
  virtual void onEachDevice(const std::function<void(int)>& op) const = 0;
  // Waits for the calling thread's current device.
  virtual void synchronize() const = 0;
};

// From now on these are used; null restores what was there at first: the library's own for CUDA once a session has asked for it, and for the others an object that
// is not enabled and throws.
XSIGMA_PROFILER_API void registerCUDAMethods(const ProfilerStubs* stubs) noexcept;
XSIGMA_PROFILER_API void registerITTMethods(const ProfilerStubs* stubs) noexcept;
XSIGMA_PROFILER_API void registerPrivateUse1Methods(const ProfilerStubs* stubs) noexcept;

// Never null.
XSIGMA_PROFILER_API const ProfilerStubs* cudaStubs() noexcept;
XSIGMA_PROFILER_API const ProfilerStubs* ittStubs() noexcept;
XSIGMA_PROFILER_API const ProfilerStubs* privateuse1Stubs() noexcept;

// Tells the profiler which stream (a cudaStream_t or CUstream) the calling thread works on; null, as at first, is the default stream, and
// reinterpret_cast<void*>(2) that of programs which are compiled for per-thread default streams.
XSIGMA_PROFILER_API void setCurrentCudaStream(void* stream) noexcept;
XSIGMA_PROFILER_API void* currentCudaStream() noexcept;

}  // namespace xsigma::profiler
