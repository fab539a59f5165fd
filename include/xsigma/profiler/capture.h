// Recording by hand: start, stop, open and read a capture. Every other way of profiling goes through this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "xsigma/profiler/export.h"
#include "xsigma/profiler/ledger.h"
#include "xsigma/profiler/record.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler {

enum class CapturePolicy : uint8_t {
  unbounded,       // grow while there is memory or disk
  stop_when_full,  // keep the first byte_cap bytes
  ring,            // keep the latest byte_cap bytes
};

struct CaptureOptions {
  CapturePolicy policy = CapturePolicy::stop_when_full;
  size_t byte_cap = size_t{1} << 30;  // everything the capture holds; at least kMinimumByteCap. Unbounded ignores it
  std::string path = {};              // "" = memory; a file survives the death of the process, whatever kills it
  bool ordered_end = false;           // end stamps wait for the loads before them: exact ends, about 10 ns dearer
  bool record_inputs = true;          // shapes and values that XSIGMA_RECORD_* pass
  bool follow_fork = false;           // a forked child opens its own capture, NAME.PID.xst, at its first record; needs a path
};

inline constexpr size_t kMinimumByteCap = 16 * 1024;

struct CaptureInfo {
  std::string path;  // "" = memory
  uint16_t version_major = 0;
  uint16_t version_minor = 0;
  CapturePolicy policy = CapturePolicy::stop_when_full;
  uint64_t byte_cap = 0;
  uint64_t bytes_used = 0;  // chunks handed out, tables and header
  int64_t process_id = 0;
  bool ordered_end = false;
  bool closed = false;               // stopped in good order; false = live, killed or truncated
  bool counter_is_clock = false;     // no invariant cycle counter here: ticks are clock_gettime's nanoseconds
  int64_t start_unix_ns = 0;         // wall clock at start
  int64_t start_monotonic_ns = 0;    // CLOCK_MONOTONIC at start
  int64_t stop_monotonic_ns = 0;     // 0 if not closed
  uint64_t start_ticks = 0;
};

struct ThreadInfo {
  uint32_t thread = 0;  // index in this capture, as in CaptureRecord::thread
  int32_t system_id = 0;
  uint64_t logical_id = 0;  // RecordFunction::currentThreadId()
  std::string name;
};

// What was said of the recording as a whole: the launcher's ranks, what was asked for, metadata of the user.
struct CaptureProperty {
  std::string key;
  std::string json;
};

// A place where the bytes were not what the format asks for, and what was given up because of it.
struct Damage {
  uint64_t offset = 0;
  std::string what;
};

// The records of one recording. Cheap to copy; reading never changes it. All methods may be called from any thread.
class XSIGMA_PROFILER_API Capture {
 public:
  struct Source;  // the library's own

  Capture();
  explicit Capture(std::shared_ptr<const Source> source);

  const CaptureInfo& info() const;
  const std::vector<ThreadInfo>& threads() const;
  // Sorted by key.
  const std::vector<CaptureProperty>& properties() const;
  // Empty for a sound capture. Never throws on bad bytes: they end up here.
  const std::vector<Damage>& damages() const;
  // Counts every scope: a pass over the records.
  Ledger ledger() const;
  // Thread by thread, in the order of recording. Views in the record are valid during the call.
  void forEachRecord(const std::function<void(const CaptureRecord&)>& visit) const;
  // CLOCK_MONOTONIC nanoseconds of a raw tick, piecewise between the clock pairs of the capture.
  int64_t toMonotonicNs(uint64_t ticks) const;
  // Writes the capture as .xst: to a temporary name first, then renamed.
  Status save(const std::string& path) const;
  const std::shared_ptr<const Source>& source() const { return source_; }

 private:
  std::shared_ptr<const Source> source_;
};

// A running recording of all threads. Destroying it stops it.
class XSIGMA_PROFILER_API Recording {
 public:
  struct State;  // the library's own

  explicit Recording(std::unique_ptr<State> state);
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();

  // Ends the recording and hands its capture over: O(threads), whatever was recorded. A second call gives the same capture.
  Capture stop();
  // What has been recorded so far, copied while the threads go on.
  Capture snapshot() const;

 private:
  std::unique_ptr<State> state_;
};

// Records all threads from now on. The environment goes before the options: XSIGMA_PROFILER_POLICY (unbounded, stop_when_full, ring),
// XSIGMA_PROFILER_CAP (bytes, or with K, M, G) and XSIGMA_PROFILER_FILE (a path). XSIGMA_PROFILER_CLOCK (auto, counter, monotonic) says where times
// come from; auto takes the cycle counter if it is invariant. Up to four recordings run at once.
XSIGMA_PROFILER_API Expected<Recording> startRecording(CaptureOptions options = {});

// Opens a capture file: finished, live, killed or cut short.
XSIGMA_PROFILER_API Expected<Capture> openCapture(const std::string& path);

}  // namespace xsigma::profiler
