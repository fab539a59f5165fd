// Hardware counters: of kernels or of the whole session (the range profiler), or as samples (PM sampling).
//
// What they exclude: on the same GPU one of the two runs at a time, and no other profiler that uses the counters.
#pragma once

#include <cupti_callbacks.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/dynamic_library.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::cupti {

struct CounterSeat {
  const base::DynamicLibrary& library;  // the vendor's, open
  uint8_t clock = 1;                    // a clock number that nobody else uses: times of samples are in it
};

// Counting, from start to drain. Destroyed after drain().
class CounterRun {
 public:
  virtual ~CounterRun();
  // The backend is the subscriber: it enables these (domain, id) before it counts on names, hands what comes to callback(), and disables
  // them after drain() has returned, not before: a launch that was seen to begin must be seen to end.
  virtual const std::vector<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>>& callbacks() const noexcept = 0;
  // On the program's thread, at the beginning and at the end of its call. When kernels are counted one by one, launches of a context wait
  // for each other here, and every so many of them what was counted is decoded.
  virtual void callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept = 0;

  // Waits for the device where ranges are counted: what runs then belongs to the range that ends.
  virtual void setCollecting(bool on) noexcept = 0;
  // Nothing is counted from now on; returns at once. A range over the session ends as soon as the device lets it: what the program launches
  // in that moment may be in it.
  virtual void stop() noexcept = 0;
  // After stop(). False: the deadline came first; then what was on its way is counted as lost, and nothing is put later.
  virtual bool drain(std::chrono::steady_clock::time_point deadline) noexcept = 0;
};

// How much of the request's buffer_bytes is the counters': the records have the rest.
inline size_t counterBytes(const BackendRequest& request) { return request.metrics.empty() ? 0 : request.buffer_bytes / 2; }

// For a request that names metrics: samples if it has an interval, else ranges. An error says what is refused, by whom, and what to do:
// the driver's permission, the chip, names that are not known (with near ones), too many of them, too many passes (with those that fit), too little memory.
// Samples are put by a thread of its own while the session runs.
Expected<std::unique_ptr<CounterRun>> startCounters(const CounterSeat& seat, const BackendRequest& request,
                                                    std::shared_ptr<BackendOutput> output);

// Whether the request could be started, without starting: opens what is slow to open.
Status checkCounters(const CounterSeat& seat, const BackendRequest& request);

// The row of a device on which its ranges lie; a second context's lie on the next one.
inline constexpr int64_t kCounterRow = 0xC0000000;

}  // namespace xsigma::profiler::backends::cupti
