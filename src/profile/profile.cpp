#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "base/json_text.h"
#include "base/log.h"
#include "kineto/session_state.h"
#include "profile/cycle_path.h"
#include "profile/trace_id.h"
#include "xsigma/profiler/record_function.h"
#include "xsigma/profiler/session.h"

namespace xsigma::profiler {
namespace {

bool records(std::optional<ProfilerAction> action) { return action == ProfilerAction::RECORD || action == ProfilerAction::RECORD_AND_SAVE; }

void warnOfSchedule(ProfilerAction from, ProfilerAction to) {
  base::warn(fmt::format("Incorrect schedule: {} followed by {}; the cycle is not saved. End it with RECORD_AND_SAVE", toString(from),
                         toString(to)));
}

}  // namespace

struct Profile::State {
  explicit State(ProfileOptions asked_for) : options(std::move(asked_for)) {}

  const ProfileOptions options;
  bool running = false;
  int process_id = 0;
  std::thread::id thread;  // that started it
  int64_t step = 0;
  ProfilerAction action = ProfilerAction::NONE;

  std::shared_ptr<KinetoThreadLocalState> session;  // while a cycle is recorded
  std::optional<RecordFunction> step_scope;         // of the step that is recorded
  std::string trace_id;
  bool prepared = false;  // the id is of a cycle that has not started yet
  int64_t started = 0;    // cycles
  int64_t ready = 0;
  std::vector<std::pair<std::string, std::string>> preset;
  std::vector<std::shared_ptr<const ProfilerResult>> results;
  bool in_handler = false;
  bool warned_idle = false;
  std::string handler_error;

  bool allThreads() const noexcept { return options.all_threads || options.experimental_config.profile_all_threads; }
  bool isOurs() const noexcept { return process_id == getpid(); }
  void refuseInHandler(const char* call) const;
  void refuseOtherThread(const char* call) const;
  // A forked child has a copy of what runs in its parent. Says whether that was so.
  bool leaveToParent();

  ProfilerAction actionAt(int64_t number) const;
  session::SessionPlan plan() const;
  void prepare();
  void startCycle();
  bool stopCycle();
  void cycleReady(Profile& profile);
  void transit(Profile& profile, ProfilerAction from, std::optional<ProfilerAction> to);
  void openStep();
};

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

Profile::Profile(ProfileOptions options) : state_(std::make_unique<State>(std::move(options))) {}

Profile::~Profile() {
  if (state_->leaveToParent() || !state_->running) return;
  state_->thread = std::this_thread::get_id();  // a session can be ended anywhere; only then it is over
  try {
    stop();
  } catch (const std::exception& error) {
    base::warn(fmt::format("Profile: its end went wrong: {}", error.what()));
  }
}

void Profile::start() {
  State& state = *state_;
  state.refuseInHandler("start()");
  state.leaveToParent();
  if (state.running) throw ProfilerError("Profile::start() was called, and it runs already. Call stop() first");
  const ProfilerAction first = state.actionAt(0);
  state.plan();  // refuses now what a later cycle would stumble over
  if (state.options.acc_events) base::warn("Profile: acc_events keeps the results of all cycles; memory grows with each of them");
  state.step = 0;
  state.process_id = getpid();
  state.thread = std::this_thread::get_id();
  state.prepared = false;
  state.transit(*this, ProfilerAction::NONE, first);
  state.action = first;
  state.running = true;
  state.openStep();
}

void Profile::step() {
  State& state = *state_;
  state.refuseInHandler("step()");
  if (state.leaveToParent())
    return base::warn("Profile::step(): the profile runs in the process that this one was forked from. Call start() for one of its own");
  if (!state.running) {
    if (!std::exchange(state.warned_idle, true))
      base::warn("Profile::step(): the profile does not run; nothing was done. Call start() first");
    return;
  }
  state.refuseOtherThread("step()");
  const ProfilerAction next = state.actionAt(state.step + 1);
  state.step_scope.reset();
  if (state.session != nullptr) state.session->session().run->step();
  ++state.step;
  const ProfilerAction previous = std::exchange(state.action, next);
  try {
    state.transit(*this, previous, next);
  } catch (const std::exception& error) {
    base::warn(fmt::format("Profile::step(): a cycle could not start at step {}, and is left out: {}", state.step, error.what()));
  }
  state.openStep();
}

void Profile::stop() {
  State& state = *state_;
  state.refuseInHandler("stop()");
  if (state.leaveToParent())
    return base::warn("Profile::stop(): the profile runs in the process that this one was forked from, and goes on there");
  if (!state.running) throw ProfilerError("Profile::stop() was called, and it does not run. Call start() first");
  state.refuseOtherThread("stop()");
  state.step_scope.reset();
  state.running = false;
  state.transit(*this, std::exchange(state.action, ProfilerAction::NONE), std::nullopt);
}

bool Profile::running() const noexcept { return state_->running && state_->isOurs(); }
int64_t Profile::stepNumber() const noexcept { return state_->step; }
ProfilerAction Profile::currentAction() const noexcept { return running() ? state_->action : ProfilerAction::NONE; }
std::string Profile::traceId() const { return state_->trace_id; }
int64_t Profile::cycle() const noexcept { return state_->ready; }
std::string Profile::lastHandlerError() const { return state_->handler_error; }

void Profile::toggleCollectionDynamic(bool enable, const std::set<ActivityType>& activities) {
  if (state_->session == nullptr || !state_->isOurs())
    return base::warn("Profile::toggleCollectionDynamic: no cycle is being recorded; there is nothing to toggle");
  toggleSession(*state_->session, enable, activities);
}

void Profile::addMetadata(const std::string& key, const std::string& text) { addMetadataJson(key, base::quoted(text)); }

void Profile::addMetadataJson(const std::string& key, const std::string& json) {
  checkMetadata(key, json);
  if (state_->session == nullptr || !state_->isOurs()) {
    return base::warn(fmt::format(
        "Profile: no cycle is being recorded; the metadata '{}' is left out. presetMetadataJson keeps it for those to come", key));
  }
  state_->session->session().run->addMetadata(key, json);
}

void Profile::presetMetadataJson(const std::string& key, const std::string& json) {
  checkMetadata(key, json);
  state_->preset.emplace_back(key, json);
}

std::shared_ptr<const ProfilerResult> Profile::result() const {
  if (state_->results.empty()) throw ProfilerError("Profile::result(): no cycle has been recorded yet. Step through one, or call stop()");
  return state_->results.back();
}

const std::vector<std::shared_ptr<const ProfilerResult>>& Profile::results() const noexcept { return state_->results; }

std::vector<KinetoEvent> Profile::events() const {
  std::vector<KinetoEvent> all;
  for (const auto& each : state_->results) all.insert(all.end(), each->events().begin(), each->events().end());
  return all;
}

void Profile::save(const std::string& path) const { result()->save(path); }

void Profile::exportChromeTrace(const std::string& path) const {
  constexpr std::string_view kCapture = ".xst";
  if (path.size() >= kCapture.size() && path.compare(path.size() - kCapture.size(), kCapture.size(), kCapture) == 0) {
    throw ProfilerError(
        fmt::format("exportChromeTrace writes JSON, and '{}' is the name of a capture. Use save(), or a name with .json", path));
  }
  save(path);
}

}  // namespace xsigma::profiler
