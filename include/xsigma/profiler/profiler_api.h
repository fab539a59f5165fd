// ProfilerSession: the one session of the process, from anywhere; ScopedActivity and profiler_enabled. An older form of Profile (session.h).
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "xsigma/profiler/observer.h"
#include "xsigma/profiler/profiler_kineto.h"
#include "xsigma/profiler/scope.h"
#include "xsigma/profiler/session.h"

namespace xsigma::profiler {

// Records all threads. Calls may come from any thread. Where others throw, these calls warn and say false.
class XSIGMA_PROFILER_API ProfilerSession {
 public:
  static ProfilerSession& instance();

  bool start(const ProfilerConfig& config = ProfilerConfig(ProfilerState::KINETO), const std::set<ActivityType>& activities = {ActivityType::CPU});
  bool stop();
  bool is_active() const;
  // What the last session recorded, by ending as ProfilerResult::save. False if there was none, one is on, or it cannot be written.
  bool export_trace(const std::string& path) const;
  // Null before the first stop().
  std::shared_ptr<const ProfilerResult> result() const;

  ProfilerSession(const ProfilerSession&) = delete;
  ProfilerSession& operator=(const ProfilerSession&) = delete;

 private:
  struct State;
  ProfilerSession();
  State* state_;  // never destroyed: a session may outlive main
};

// Whether the calling thread is in a session, its own or one of all threads.
inline bool profiler_enabled() { return profilerEnabled(); }

// A scope with any name: XSIGMA_PROFILE_SCOPE_DYNAMIC as an object.
class ScopedActivity {
 public:
  explicit ScopedActivity(std::string_view name) noexcept
      : scope_(detail::anyoneListens() ? detail::beginScope(name, RecordScope::USER_SCOPE) : detail::ScopeToken{}) {}

 private:
  detail::ScopeGuard scope_;
};

}  // namespace xsigma::profiler
