// What one thread's records cannot settle alone: scopes still open, the two ends of asynchronous ones, given events, candidates for links.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::assemble {

struct OpenScope {
  TraceEvent event;
  std::vector<uint32_t> records;  // its details, raw
  int64_t thread_end_ns = 0;      // the last that the thread did
  bool marked = false;            // begun by recordAsyncBegin: not a scope, joined by name and id
};

// The end of something that began elsewhere, or was told to.
struct AsyncEnd {
  uint64_t id = 0;
  uint32_t name = 0;
  uint32_t row = 0;
  int64_t end_ns = 0;
  bool scope = false;
};

// A scope of the user's that device work was asked for in, and the one around it.
struct UserScope {
  uint32_t around = UINT32_MAX;  // in the same list; none
  uint32_t name = 0;
  uint64_t id = 0;
};
// Whose work it is: the innermost scope, and the user's scopes around it.
struct AskingScope {
  uint64_t id = 0;    // 0 = none
  uint32_t name = 0;  // of that scope; 0 where only its id is known
  uint32_t row = 0;
  uint32_t user_scope = UINT32_MAX;  // Leftovers::user_scopes of that row
};

struct GivenRecord {
  uint32_t row = 0;     // of the thread that reported it
  bool placed = false;  // it fits there, between the scopes
  uint16_t depth = 0;
  std::vector<uint32_t> record;
};

// An op with a sequence number, on the row of its thread.
struct ForwardOp {
  int64_t sequence_number = 0;
  uint64_t id = 0;
  int64_t start_ns = 0;
};
// An op that names the thread of its forward op.
struct BackwardOp {
  uint64_t forward_thread = 0;  // logical
  int64_t sequence_number = 0;
  uint64_t id = 0;
  int64_t start_ns = 0;
  uint32_t row = 0;
};

struct Leftovers {
  std::vector<OpenScope> open;
  std::vector<AsyncEnd> async_ends;
  std::vector<GivenRecord> given;
  std::deque<ForwardOp> forward_ops;  // grows without being copied
  std::vector<BackwardOp> backward_ops;
  std::vector<UserScope> user_scopes;
  uint64_t end_ordinal = 0;
  int64_t last_ns = INT64_MIN;
  uint64_t events = 0;
  uint64_t unfinished = 0;
  uint64_t unmatched = 0;
  uint64_t overlapping = 0;
  uint64_t memory_events = 0;
  bool has_slices = false;
};

}  // namespace xsigma::profiler::assemble
