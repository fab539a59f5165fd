#include "profile/profile_state.h"

#include <fmt/format.h>

#include <exception>

#include "base/log.h"
#include "profile/cycle_path.h"
#include "profile/trace_id.h"

namespace xsigma::profiler {
namespace {

bool records(std::optional<ProfilerAction> action) { return action == ProfilerAction::RECORD || action == ProfilerAction::RECORD_AND_SAVE; }

void warnOfSchedule(ProfilerAction from, ProfilerAction to) {
  base::warn(fmt::format("Incorrect schedule: {} followed by {}; the cycle is not saved. End it with RECORD_AND_SAVE", toString(from),
                         toString(to)));
}

}  // namespace

void Profile::State::refuseInHandler(const char* call) const {
  if (in_handler)
    throw ProfilerError(fmt::format("Profile::{} was called from on_trace_ready, inside a step() or stop(). Call it after that one", call));
}

void Profile::State::refuseOtherThread(const char* call) const {
  if (allThreads() || std::this_thread::get_id() == thread) return;
  throw ProfilerError(fmt::format(
      "Profile::{} was called on another thread than start(), and all_threads is false. Call it there, or set all_threads", call));
}

bool Profile::State::leaveToParent() {
  if (!running || isOurs()) return false;
  step_scope.reset();
  session.reset();
  running = prepared = false;
  action = ProfilerAction::NONE;
  left_to_parent = true;
  return true;
}

bool Profile::State::refuseParents(const char* call) {
  if (!leaveToParent()) return left_to_parent;
  base::warn(fmt::format(
      "Profile::{}: the profile runs in the process that this one was forked from, and goes on there. Call start() for one of its own",
      call));
  return true;
}

ProfilerAction Profile::State::actionAt(int64_t number) const {
  if (!options.schedule) return ProfilerAction::RECORD;
  const ProfilerAction next = options.schedule(number);
  if (next >= ProfilerAction::NONE && next <= ProfilerAction::RECORD_AND_SAVE) return next;
  throw ProfilerError(fmt::format("the schedule gave {} for step {}, which is no ProfilerAction. Use NONE, WARMUP, RECORD, RECORD_AND_SAVE",
                                  static_cast<int>(next), number));
}

session::SessionPlan Profile::State::plan() const {
  ExperimentalConfig experimental = options.experimental_config;
  experimental.profile_all_threads = allThreads();
  const ProfilerConfig config(ProfilerState::KINETO, options.record_shapes, options.profile_memory, options.with_stack, options.with_flops,
                              options.with_modules, std::move(experimental), trace_id);
  Expected<session::SessionPlan> planned = session::planSession(config, options.activities, options.scopes);
  if (!planned) throw ProfilerError(planned.message());
  return std::move(*planned);
}

void Profile::State::prepare() {
  trace_id = profile::randomTraceId();
  if (options.trace_id_callback) {
    try {
      trace_id = options.trace_id_callback();
    } catch (...) {
      base::warn(fmt::format("the trace id callback threw; the trace is called {}", trace_id));
    }
  }
  prepared = true;
  if (const Status status = session::warmUp(plan()); !status) throw ProfilerError(status.message());
}

void Profile::State::startCycle() {
  if (!prepared) prepare();
  prepared = false;
  ++started;
  session::SessionPlan planned = plan();
  std::string& path = planned.config.experimental_config.capture.path;  // the environment's, if it names one
  if (!path.empty()) path = profile::cyclePath(std::move(path), started, step);
  session = startSession(std::move(planned), nullptr, "a Profile");
  for (const auto& [key, json] : preset) session->session().run->addMetadata(key, json);
}

bool Profile::State::stopCycle() {
  if (session == nullptr) return false;  // it could not start
  std::shared_ptr<const ProfilerResult> result = stopSession(std::exchange(session, nullptr));
  if (!options.acc_events) results.clear();
  results.push_back(std::move(result));
  return true;
}

void Profile::State::cycleReady(Profile& profile) {
  ++ready;
  if (!options.on_trace_ready) return;
  in_handler = true;
  try {
    options.on_trace_ready(profile);
  } catch (const std::exception& error) {
    handler_error = error.what();
    base::warn(fmt::format("on_trace_ready threw: {}. The profile goes on", handler_error));
  } catch (...) {
    handler_error = "something that is no std::exception";
    base::warn("on_trace_ready threw something that is no std::exception. The profile goes on");
  }
  in_handler = false;
}

// No action to go to: the run ends.
void Profile::State::transit(Profile& profile, ProfilerAction from, std::optional<ProfilerAction> to) {
  switch (from) {
    case ProfilerAction::NONE:
      if (to && to != ProfilerAction::NONE) prepare();
      if (records(to)) startCycle();
      return;
    case ProfilerAction::WARMUP:
      if (to == ProfilerAction::NONE) warnOfSchedule(from, *to);
      if (records(to)) return startCycle();
      if (to != ProfilerAction::WARMUP) prepared = false;  // nothing was begun, so there is nothing to end
      return;
    case ProfilerAction::RECORD:
      if (records(to)) return;
      if (to) warnOfSchedule(from, *to);
      if (stopCycle() && !to) cycleReady(profile);
      return;
    case ProfilerAction::RECORD_AND_SAVE:
      if (stopCycle()) cycleReady(profile);
      if (to && to != ProfilerAction::NONE) prepare();
      if (records(to)) startCycle();
      return;
  }
}

void Profile::State::openStep() {
  if (!options.schedule || session == nullptr) return;
  step_scope.emplace(RecordScope::USER_SCOPE);
  if (step_scope->isActive()) step_scope->before(fmt::format("ProfilerStep#{}", step));
}

}  // namespace xsigma::profiler
