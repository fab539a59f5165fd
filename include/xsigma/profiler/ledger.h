// Ledger: how many scopes a capture was asked to take, how many it has, and where the others went.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "xsigma/profiler/export.h"

namespace xsigma::profiler {

enum class LossCause : uint8_t {
  overwritten,  // a ring went round
  cap_reached,  // stop_when_full was full
  no_chunk,     // a ring whose chunks were all being written by other threads
  reentrant,    // inside the profiler itself: in a signal handler, or an operator new that it called
  disk_full,    // the file could not grow: disk, quota or file-size limit
  late,         // recorded while the recording was being stopped
  damaged,      // the bytes are no longer readable
};
inline constexpr size_t kLossCauses = 7;

XSIGMA_PROFILER_API const char* toString(LossCause cause) noexcept;

// attempted == recorded + dropped, and dropped == the sum of causes. The unit is the scope.
struct ScopeCounts {
  uint64_t attempted = 0;
  uint64_t recorded = 0;    // readable whole, or begun and not ended
  uint64_t unfinished = 0;  // of the recorded: without an end
  uint64_t dropped = 0;
  std::array<uint64_t, kLossCauses> causes{};
  uint64_t extras_dropped =
      0;  // instants, counters, memory events, inputs, metadata that found no room; memory events from inside the profiler
};

struct ThreadLedger : ScopeCounts {
  uint32_t thread = 0;
  int32_t system_id = 0;
  std::string name;
};

// Where device records went that are not in the capture.
enum class DeviceLossCause : uint8_t {
  buffers_full,  // the vendor's library found no buffer for them
  unreadable,    // of a kind or layout that is not known here
  no_room,       // the capture was full
  overwritten,   // a ring went round
  too_late,      // not fetched within the session's patience; counts as one, however many they were
};
inline constexpr size_t kDeviceLossCauses = 5;

XSIGMA_PROFILER_API const char* toString(DeviceLossCause cause) noexcept;

// What devices were asked for. launched == kernels + pending + dropped.
struct DeviceLedger {
  uint64_t launched = 0;
  uint64_t kernels = 0;                                         // that the capture has
  uint64_t pending = 0;                                         // launched, and not over when the recording ended
  std::vector<std::pair<std::string, uint64_t>> pending_names;  // of those whose name is known, sorted
  uint64_t dropped = 0;                                         // records of any kind: what was lost does not say what it was
  std::array<uint64_t, kDeviceLossCauses> causes{};
  uint64_t not_counted = 0;  // samples, ranges and launches that have no hardware counters, though some were asked for
  uint64_t copies = 0;       // copies and fills that the capture has
  uint64_t calls = 0;        // into the vendor's library
  bool watched = false;      // a device was watched at all
};

struct Ledger : ScopeCounts {
  std::vector<ThreadLedger> threads;
  uint64_t names_dropped = 0;  // scopes are there, their names found no room
  DeviceLedger device;
  uint64_t threads_dropped = 0;  // threads that found no room in the thread table; their scopes count in the totals above

  bool whole() const { return dropped == 0 && extras_dropped == 0 && names_dropped == 0 && device.dropped == 0 && device.not_counted == 0; }
};

}  // namespace xsigma::profiler
