// SessionPlan: what a session was asked for, checked.
#pragma once

#include <set>
#include <unordered_set>

#include "xsigma/profiler/observer.h"
#include "xsigma/profiler/record_scope.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler::session {

// What was asked for, in the terms that the library works with: CPU and CUDA as KINETO, environment over options. An error says what cannot be
// honoured here, and why.
struct SessionPlan {
  ProfilerConfig config;
  std::set<ActivityType> activities;
  std::unordered_set<RecordScope> scopes;
  bool between_marks = false;  // only while the program says so: cudaProfilerStart to cudaProfilerStop
};
Expected<SessionPlan> planSession(const ProfilerConfig& config, const std::set<ActivityType>& activities, const std::unordered_set<RecordScope>& scopes);

}  // namespace xsigma::profiler::session
