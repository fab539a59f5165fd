// What the seed-shaped calls keep of a session, and how they find the one that is meant.
#pragma once

#include <memory>

#include "session/profiler_session.h"
#include "xsigma/profiler/profiler_kineto.h"

namespace xsigma::profiler {

struct KinetoThreadLocalState::Session {
  std::shared_ptr<session::ProfilerSession> run;
  post_process_t callback;
  int process_id = 0;           // a forked child has a copy that is not its own
  const char* owner = nullptr;  // who alone may end it: "a Profile"; null: disableProfiler()
};

// For those who keep their session in hand and end that one, whatever others their thread is in. `owner` is a literal. Throws as enableProfiler.
std::shared_ptr<KinetoThreadLocalState> startSession(session::SessionPlan plan, post_process_t callback, const char* owner);
// On any thread, once. Never null.
std::unique_ptr<ProfilerResult> stopSession(std::shared_ptr<KinetoThreadLocalState> state);
// Switches what the session collects of these activities; warns about those it does not.
void toggleSession(KinetoThreadLocalState& state, bool enable, const std::set<ActivityType>& activities);

// Throws ProfilerError for a value that is not JSON, and for what is too large to be kept.
void checkMetadata(const std::string& key, const std::string& value);

// The one that other threads can join. Null if there is none.
std::shared_ptr<KinetoThreadLocalState> joinableState();

// The session of the calling thread, of all threads, of the shim, or the one that could be joined: the first that is on.
std::shared_ptr<session::ProfilerSession> currentRun();

}  // namespace xsigma::profiler
