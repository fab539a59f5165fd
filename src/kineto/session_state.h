// What the seed-shaped calls keep of a session, and how they find the one that is meant.
#pragma once

#include <memory>

#include "session/profiler_session.h"
#include "xsigma/profiler/profiler_kineto.h"

namespace xsigma::profiler {

struct KinetoThreadLocalState::Session {
  std::shared_ptr<session::ProfilerSession> run;
  post_process_t callback;
  int process_id = 0;  // a forked child has a copy that is not its own
};

// The one that other threads can join. Null if there is none.
std::shared_ptr<KinetoThreadLocalState> joinableState();

// The session of the calling thread, of all threads, of the shim, or the one that could be joined: the first that is on.
std::shared_ptr<session::ProfilerSession> currentRun();

}  // namespace xsigma::profiler
