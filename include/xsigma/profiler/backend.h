// Backend: what a kind of device has to tell. It watches a vendor's library while a session runs, and hands over what it saw.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kineto/ActivityType.h"
#include "xsigma/profiler/export.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler {

// What an activity is to the others.
enum class DeviceRole : uint8_t {
  call,      // of a thread of this process into the vendor's library; work of the same correlation was asked for by it
  work,      // a kernel, a copy, a fill: on a queue of a device
  note,      // what else a queue has to tell: synchronisation, events
  overhead,  // what the vendor's library cost
  memory,    // bytes taken on a device or given back; values are those of DeviceMemoryValue, the type one of the device's
  graph_node,  // a node was put into a graph, by this thread and at this time; `node` is its number, `origin` that of the node it was copied from
  counter,  // a sample: the first value is the bits of a double
  pending,  // work that was asked for and is not over: a kernel without times
};

enum DeviceMemoryValue : uint32_t {
  kMemoryAddress,
  kMemoryBytes /* below zero: given back */,
  kMemoryAllocated,
  kMemoryReserved,
  kMemoryValues
};

// Times are ticks of a clock. Clock 0 is the one that the capture counts in (BackendRequest::host_ticks); any other is told by BackendOutput::clockPair, and
// counts nanoseconds, as well as it can, or whatever two pairs of it say.
inline constexpr uint8_t kHostClock = 0;

// So many values an activity can have: what is beyond is cut.
inline constexpr uint32_t kMostDeviceValues = 256;

struct DeviceActivity {
  DeviceRole role = DeviceRole::work;
  uint8_t clock = kHostClock;
  bool failed = false;  // call: it returned an error, so nothing was asked for
  libkineto::ActivityType type = libkineto::ActivityType::CONCURRENT_KERNEL;
  uint64_t start = 0;
  uint64_t end = 0;
  int64_t process_id = 0;    // the device's index; for calls and graph nodes, this process
  int64_t thread_id = 0;     // the queue (stream); for calls and graph nodes, the system's number of the thread
  uint64_t correlation = 0;  // 0 = none
  uint64_t node = 0;         // of a graph: which node this is the run of; 0 = none
  uint64_t origin = 0;       // graph_node
  uint32_t kind = 0;  // calls: which function it is, whatever the name says. Calls of a kind that is seen to cause kernels are expected to
  uint32_t name = 0;  // BackendOutput::text
  uint32_t form = 0;  // BackendOutput::text of the arguments' form, see kArgInteger; 0 = none
  const int64_t* values = nullptr;  // what the form asks for, in its order
  uint32_t value_count = 0;
};

// A form is the inside of a JSON object in which these stand for values:  "grid": [\1, \1, \1], "ratio": \2
inline constexpr char kArgInteger = '\x01';
inline constexpr char kArgReal = '\x02';  // the bits of a double
inline constexpr char kArgText = '\x03';  // a number from BackendOutput::text; written in quotes
inline constexpr char kArgRate = '\x04';  // this many per nanosecond of the activity

// Records that are not in the capture though they should be.
enum class DeviceLoss : uint8_t {
  buffers_full,  // the vendor's library found no buffer for them
  unreadable,    // of a kind or layout that is not known here
  not_counted,   // not records but numbers: samples, ranges and launches without their hardware counters
  too_late,      // not there when the session's patience was over; what is missing then has no number, and counts as one
};
inline constexpr size_t kDeviceLosses = 4;

// What the session asks of a device.
struct BackendRequest {
  std::set<libkineto::ActivityType> activities;  // kinds of records that are wanted; empty = all that are usual
  size_t buffer_bytes = size_t{64} << 20;        // at most so much memory for records on their way
  uint64_t (*host_ticks)() noexcept = nullptr;   // the capture's clock; any thread may call it
  bool whole_graphs = false;                     // a graph's launch is one activity, instead of one for each node
  bool memory = false;                           // memory taken and given back
  std::vector<std::string> metrics;              // hardware counters
  bool metrics_per_kernel = false;               // … of each kernel, instead of each range
  std::chrono::microseconds sample_interval{0};  // counters as samples, so often; 0 = none
  int process_id = 0;
  std::function<void(bool on)> marked;  // called when the program marks where to begin and to end (cudaProfilerStart, …Stop), on its thread
};

inline constexpr int64_t kThisProcess = -1;  // in place of a device

// Where a backend puts what it has seen. Any thread may call it. What comes after BackendRun::drain has returned is too late, and does no harm.
class XSIGMA_PROFILER_API BackendOutput {
 public:
  virtual ~BackendOutput();
  // The number of a text in this capture; the same for the same text. 0 when there is no room.
  virtual uint32_t text(std::string_view text) noexcept = 0;
  // What finds no room is counted.
  virtual void put(const DeviceActivity& activity) noexcept = 0;
  // Of a clock of the backend's own, from 1 on: this many ticks of it were the same moment as those of the host. In rising order.
  virtual void clockPair(uint8_t clock, uint64_t device_ticks, uint64_t host_ticks) noexcept = 0;
  // So many more were lost.
  virtual void lost(DeviceLoss cause, uint64_t count) noexcept = 0;
  // Names a device (thread_id −1) or a queue of one; or, with kThisProcess, a thread that makes calls, in case it has no scopes. Rows are shown by rising
  // sort_index.
  virtual void row(int64_t process_id, int64_t thread_id, std::string_view name, int64_t sort_index) noexcept = 0;
  // Goes into the trace's head. The key "deviceProperties" takes one JSON object per call, others the last value.
  virtual void property(std::string_view key, std::string_view json) noexcept = 0;
};

// A device being watched. Destroyed after drain(). In a forked child nothing of it is called, not even the destructor: its threads are not there, and they
// may have held its locks.
class XSIGMA_PROFILER_API BackendRun {
 public:
  virtual ~BackendRun();
  // Off and on again, as often as wanted: nothing is recorded in between, and nothing of before is lost. Any thread may call it, also while stop() is called
  // and after: it then has no effect.
  virtual void setCollecting(bool on) noexcept = 0;
  // Nothing is recorded from now on. Returns at once, whatever is still on its way.
  virtual void stop() noexcept = 0;
  // After stop(), on a thread of the session: puts what was on its way. False: the deadline came first, and the session counts a loss. Nothing is recorded after it;
  // the vendor's library may leave the process later, where it is safe.
  virtual bool drain(std::chrono::steady_clock::time_point deadline) noexcept = 0;
};

// Stateless towards its users; any thread may call it. One run at a time. What it throws is taken for an error that it returns.
class XSIGMA_PROFILER_API Backend {
 public:
  virtual ~Backend();
  virtual std::string_view name() const noexcept = 0;    // that of its folder
  virtual std::string_view device() const noexcept = 0;  // what -a takes and a user asks for: "CUDA"
  // A poor man's way to watch them, taken only where it is asked for (ProfilerState::KINETO_GPU_FALLBACK).
  virtual bool isFallback() const noexcept { return false; }
  // Whether devices can be watched here; otherwise why not, and what to do. Opens the vendor's library, and no more than it must.
  virtual Status available() = 0;
  // Does what is slow the first time, so that start() is not. It may be left out.
  virtual Status prepare(const BackendRequest& request) = 0;
  virtual Expected<std::unique_ptr<BackendRun>> start(const BackendRequest& request, std::shared_ptr<BackendOutput> output) = 0;
};

// All there are in this build.
XSIGMA_PROFILER_API const std::vector<Backend*>& allBackends();

}  // namespace xsigma::profiler
