// MemoryProfile: what a capture says of memory: its course, its peak, who held it, what was never released.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "xsigma/profiler/capture.h"
#include "xsigma/profiler/device.h"
#include "xsigma/profiler/export.h"
#include "xsigma/profiler/memory_category.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler {

enum class MemoryAction : uint8_t {
  alloc,
  free,
  unknown_free,  // of an address that the capture has not seen allocated: it was before the start, not reported, or lost, or two layers report it
  out_of_memory,
};

inline constexpr uint32_t kNoMemoryEvent = UINT32_MAX;

struct MemoryEvent {
  int64_t time_ns = 0;  // CLOCK_REALTIME
  uint64_t address = 0;
  uint64_t bytes = 0;            // allocated, released, or asked for in vain
  uint64_t allocated = 0;        // alive on this device after it, of what was allocated in the capture
  uint64_t total_allocated = 0;  // as the allocator reported it, and the next
  uint64_t total_reserved = 0;
  uint32_t partner = kNoMemoryEvent;  // of a release: the event that allocated; of an allocation: the one that released it
  uint32_t scope = 0;                 // MemoryProfile::scopes: where this happened
  uint32_t thread = 0;                // MemoryProfile::threads
  MemoryAction action = MemoryAction::alloc;
  MemoryCategory category = MemoryCategory::unknown;  // of what was allocated
};

// One way of scopes through which memory was allocated or released. The first is that of no scope at all.
struct MemoryScope {
  std::string name;
  uint32_t parent = 0;
  uint32_t depth = 0;
};

struct MemoryThread {
  int64_t system_id = 0;
  uint64_t logical_id = 0;  // RecordFunction::currentThreadId()
  std::string name;
};

// What was allocated in one scope and not released.
struct MemoryHolder {
  uint32_t scope = 0;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

// All that is alive at one moment. Holders: largest first, at most kMostHolders; `scopes` says how many there are in all.
struct MemoryMoment {
  int64_t time_ns = 0;
  uint64_t bytes = 0;
  std::array<uint64_t, kMemoryCategories> by_category{};
  std::vector<MemoryHolder> holders;
  uint64_t scopes = 0;
  uint32_t event = kNoMemoryEvent;  // after which it is so
};
inline constexpr size_t kMostHolders = 20;

// An allocation that failed, and who held what then. Of the first kMostShortages; later ones have no holders and categories.
struct MemoryShortage : MemoryMoment {
  uint64_t requested = 0;
};
inline constexpr size_t kMostShortages = 1000;

struct MemoryDevice {
  Device device{};
  std::vector<MemoryEvent> events;  // by time
  MemoryMoment peak;
  std::vector<MemoryShortage> shortages;
  std::vector<uint32_t> leaks;               // events: allocated, and not released by the end. Largest first
  std::vector<MemoryHolder> leaks_by_scope;  // all of them, largest first
  uint64_t leaked_bytes = 0;
  uint64_t allocations = 0;  // == releases + replaced + leaks.size()
  uint64_t releases = 0;
  uint64_t unknown_releases = 0;  // MemoryAction::unknown_free. They change no total
  uint64_t unknown_released_bytes = 0;
  // Allocations at an address that was still taken, for which a release was put among the events: the real one was not reported, or lost, or two
  // layers report the same memory (reporting_allocator.h).
  uint64_t replaced = 0;
};

struct XSIGMA_PROFILER_API MemoryProfile {
  int64_t start_ns = 0;  // CLOCK_REALTIME
  int64_t end_ns = 0;    // of the recording, or of what there is of it
  int64_t process_id = 0;
  std::vector<MemoryDevice> devices;  // by type and index
  std::vector<MemoryScope> scopes;
  std::vector<MemoryThread> threads;
  uint64_t lost_reports = 0;  // memory events and other marks that found no room, or came from inside the profiler
  uint64_t lost_scopes = 0;   // for want of them memory is told by the scopes around
  bool overwritten = false;   // a ring went round: what was reported before is gone, uncounted
  bool damaged = false;

  bool empty() const { return devices.empty(); }
  bool whole() const { return lost_reports == 0 && lost_scopes == 0 && !overwritten && !damaged; }
  // "step > forward > allocate"; of a long way its inner end.
  std::string path(uint32_t scope) const;
  // For people: peak, leaks, failures, losses; or that nobody reported memory.
  std::string summary() const;
  // By ending: .json (docs/formats.md) or .html, a picture in one file.
  Status save(const std::string& path) const;
};

// From any capture, however it was recorded. What is told by scope is told by the scopes of the thread that allocated. Takes time and memory in
// proportion to the events.
XSIGMA_PROFILER_API MemoryProfile analyzeMemory(const Capture& capture);

// Records scopes and memory of all threads, beside whatever else records. XSIGMA_PROFILER_POLICY and XSIGMA_PROFILER_CAP go before the options.
// Throws ProfilerError if one runs already, or if it cannot be started.
XSIGMA_PROFILER_API void startMemoryProfile(const CaptureOptions& options = {});
// Throws ProfilerError if none runs.
XSIGMA_PROFILER_API void stopMemoryProfile();
// What has been recorded so far, or between the last start and stop. Throws ProfilerError if there was none.
XSIGMA_PROFILER_API MemoryProfile memoryProfile();
// The same as a file, by ending: .json or .html. As often as you like. Throws ProfilerError if it cannot be written.
XSIGMA_PROFILER_API void exportMemoryProfile(const std::string& path);

}  // namespace xsigma::profiler
