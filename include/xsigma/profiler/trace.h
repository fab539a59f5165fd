// Trace: what a capture says, put together: rows, events in time, links between them. Exporters and analyses read it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kineto/ActivityType.h"
#include "xsigma/profiler/capture.h"
#include "xsigma/profiler/device.h"
#include "xsigma/profiler/export.h"
#include "xsigma/profiler/ledger.h"
#include "xsigma/profiler/record.h"
#include "xsigma/profiler/record_scope.h"

namespace xsigma::profiler {

// Which kind of device an activity runs on.
XSIGMA_PROFILER_API DeviceType deviceTypeFromActivity(libkineto::ActivityType activity_type);

enum class TraceEventKind : uint8_t {
  slice,        // has a duration; slices of one row nest or are disjoint
  async_slice,  // has a duration, and overlaps what it likes: it began on one thread and may have ended on another
  instant,
  counter,
  memory,
  out_of_memory,
};

enum TraceEventFlag : uint8_t {
  kEventUnfinished = 1,  // no end was recorded: it lasts until the end of its parent or of the trace
  kEventUnmatched = 2,   // its end was recorded, its begin was not; both times are right
  kEventOverlaps = 4,    // an async_slice only because it would have crossed other slices of its row
  kEventGiven = 8,       // times and place were given by a backend, a client or a device
  kEventOfBackend = 16,  // … by a backend; its id joins a call and the work that it asked for
};

inline constexpr uint32_t kNoDetails = UINT32_MAX;

struct TraceEvent {
  int64_t start_ns = 0;  // CLOCK_REALTIME
  int64_t duration_ns = 0;
  uint64_t id = 0;           // correlation id, unique among scopes; of marks that come in pairs, what joins them. 0 = none
  uint64_t ordinal = 0;      // scopes: unique in the trace, rising with the begin on a thread
  uint32_t row = 0;          // EventBatch::row
  uint32_t name = 0;         // Trace::name
  uint32_t details = kNoDetails;  // EventBatch::details
  uint16_t depth = 0;        // slices around it on its row
  TraceEventKind kind = TraceEventKind::slice;
  uint8_t flags = 0;
  libkineto::ActivityType type = libkineto::ActivityType::CPU_OP;
};

// Values as a call was given them, still packed.
struct PackedInputs {
  const uint32_t* words = nullptr;
  uint32_t size = 0;
  uint32_t count = 0;
  bool keywords = false;  // each value follows its key
  bool cut = false;       // there were too many to keep
};
// False if the bytes make no sense beyond what came out.
XSIGMA_PROFILER_API bool decodeInputs(const PackedInputs& packed, std::vector<RecordedInput>& values, std::vector<std::string>* keys = nullptr);

// What few events have. Views are valid as long as the batch.
struct EventDetails {
  int64_t sequence_number = -1;
  int64_t debug_handle = -1;
  uint64_t forward_thread = 0;  // logical id
  PackedInputs inputs;
  PackedInputs keyword_inputs;
  PackedInputs outputs;
  uint32_t stack = 0;  // Trace::stack; 0 = none
  struct Metadata {
    uint32_t key = 0;  // Trace::name
    std::string_view text;
  };
  const Metadata* metadata = nullptr;
  uint32_t metadata_count = 0;
  const uint32_t* modules = nullptr;  // the CUSTOM_CLASS scopes around, outermost first, where they were asked for; Trace::name
  uint32_t module_count = 0;
  const uint64_t* perf = nullptr;  // what the CPU counted in it, by TraceInfo::performance_events
  uint32_t perf_count = 0;

  double value = 0;  // counter
  uint64_t address = 0;  // memory, out_of_memory
  int64_t bytes = 0;
  uint64_t total_allocated = 0;
  uint64_t total_reserved = 0;
  Device device{};

  uint64_t linked_id = 0;  // given events: the scope that asked for them
  uint32_t flow_id = 0;
  uint8_t flow_type = 0;
  bool flow_start = false;
  std::string_view metadata_json;  // the inside of an object; checked
  uint32_t end_row = 0;  // async slices that ended on another row: that row + 1
};

struct TraceName {
  std::string_view text;
  std::string_view file;
  uint32_t line = 0;
  RecordScope scope = RecordScope::FUNCTION;
};

struct TraceRow {
  int64_t process_id = 0;
  int64_t thread_id = 0;     // of the system; of a device: the stream
  uint64_t logical_id = 0;   // RecordFunction::currentThreadId(); 0 = no thread of this process
  std::string name;
  bool beside = false;       // a further row of another: for given events that would have crossed others there
  bool hidden = false;       // holds records, and no events
  bool device = false;       // no thread's: a queue of a device, whose index is process_id, or the cost of watching it
  int64_t sort_index = -1;   // below zero: by its number
  std::optional<int64_t> stands_for{};  // where thread_id is only a number for the row: the thread or queue whose events it has; −1 = all of its device's

  int64_t resourceId() const { return stands_for.value_or(thread_id); }
};

// A stretch of the events of one row or several, in the order of their ends.
struct EventBatch {
  std::vector<TraceEvent> events;
  std::vector<EventDetails> all_details;
  const std::vector<TraceRow>* rows = nullptr;

  const TraceRow& row(const TraceEvent& event) const { return (*rows)[event.row]; }
  const EventDetails* details(const TraceEvent& event) const { return event.details != kNoDetails ? &all_details[event.details] : nullptr; }

  struct Memory;  // what the views point into
  std::shared_ptr<Memory> memory;
};

// An arrow from one event to another, both told by row and start.
struct TraceLink {
  enum class Kind : uint8_t { forward_backward = 1, launch = 2 };
  Kind kind = Kind::forward_backward;
  uint64_t id = 0;
  uint32_t from_row = 0;
  uint32_t to_row = 0;
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  uint64_t from_event = 0;  // TraceEvent::id
  uint64_t to_event = 0;
};

struct TraceInfo {
  int64_t process_id = 0;
  int64_t start_ns = 0;  // CLOCK_REALTIME
  int64_t end_ns = 0;
  std::string source;  // the capture's path; "" = memory
  std::vector<CaptureProperty> properties;
  std::vector<std::string> performance_events;  // names of EventDetails::perf
  bool with_modules = false;                    // EventDetails::modules are wanted
  bool verbose = false;                         // the source place of every scope is wanted
  bool clock_is_system = false;  // no cycle counter could be used
  bool unlinked = false;         // device work is not linked to scopes: it was asked for so
};

// A device, by the index that its rows have as process_id.
struct TraceDevice {
  int64_t index = 0;
  std::string name;
  int64_t sort_index = 0;
};

// What is known once every event has been seen.
struct TraceTotals {
  std::vector<TraceRow> rows;
  std::vector<TraceDevice> devices;
  std::vector<TraceLink> links;
  int64_t end_ns = 0;  // of the recording, or of the last event where it did not end in good order
  uint64_t events = 0;
  uint64_t unfinished = 0;
  uint64_t unmatched = 0;   // ends without a begin, async ends without theirs
  uint64_t overlapping = 0;
  uint64_t memory_events = 0;
  uint64_t before_launch = 0;  // work of devices that starts before the call that asked for it: the clocks do not agree there
  uint64_t args_cut = 0;              // device events whose arguments are too long to be kept whole
  uint64_t annotations_cut = 0;       // work of devices that lies in more scopes than are shown around it
  bool complete = true;     // false: the deadline came first, or the visitor had enough
};

struct VisitOptions {
  unsigned workers = 0;  // 0 = as many as are useful
  std::chrono::nanoseconds deadline{0};  // 0 = none; after it what is there is given out, and the totals say so
};

// Gets the events of a trace. A batch may be moved from; its row() is good during the call. The work is split in two: prepare() runs on several threads at once and turns a batch into whatever the visitor keeps
// at that place; accept() is called one place at a time, in an order that does not depend on the number of threads.
class XSIGMA_PROFILER_API TraceVisitor {
 public:
  virtual ~TraceVisitor();
  // Before anything else: worker < workers and place < places below.
  virtual void start(unsigned workers, size_t places) = 0;
  virtual void prepare(unsigned worker, size_t place, EventBatch& batch) = 0;
  // False: enough.
  virtual bool accept(size_t place) = 0;
};

// Immutable; any thread may read it. Reading streams through the capture: memory does not grow with the number of plain scopes, and by a few dozen bytes
// for each op with a sequence number and each asynchronous or given event.
class XSIGMA_PROFILER_API Trace {
 public:
  virtual ~Trace();

  virtual const TraceInfo& info() const = 0;
  virtual const Ledger& ledger() const = 0;
  virtual TraceName name(uint32_t id) const = 0;
  // Innermost first, symbolised.
  virtual std::vector<std::string> stack(uint32_t id) const = 0;

  virtual TraceTotals visit(TraceVisitor& visitor, const VisitOptions& options = {}) const = 0;
  // On one thread, batch after batch.
  TraceTotals forEachBatch(const std::function<void(EventBatch&)>& each, std::chrono::nanoseconds deadline = {}) const;
};

// Puts a capture together. Cheap: the work is done as the trace is read.
XSIGMA_PROFILER_API std::shared_ptr<const Trace> assembleTrace(const Capture& capture);

}  // namespace xsigma::profiler
