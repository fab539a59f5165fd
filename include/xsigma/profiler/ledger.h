// Ledger: how many scopes a capture was asked to take, how many it has, and where the others went.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
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
  uint64_t extras_dropped = 0;  // instants, counters, memory events, inputs, metadata that found no room; memory events from inside the profiler
};

struct ThreadLedger : ScopeCounts {
  uint32_t thread = 0;
  int32_t system_id = 0;
  std::string name;
};

struct Ledger : ScopeCounts {
  std::vector<ThreadLedger> threads;
  uint64_t names_dropped = 0;  // scopes are there, their names found no room
  uint64_t threads_dropped = 0;  // threads that found no room in the thread table; their scopes count in the totals above

  bool whole() const { return dropped == 0 && extras_dropped == 0 && names_dropped == 0; }
};

}  // namespace xsigma::profiler
