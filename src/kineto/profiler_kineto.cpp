#include "xsigma/profiler/profiler_kineto.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/json_text.h"
#include "base/log.h"
#include "capture/format.h"
#include "kineto/profiler_result.h"
#include "kineto/session_state.h"
#include "session/profiler_session.h"
#include "xsigma/profiler/kineto_shim.h"

namespace xsigma::profiler {

using State = KinetoThreadLocalState;

namespace {

// The sessions that other threads can join: the one that was enabled last comes first.
struct Joinable {
  std::mutex mutex;
  std::vector<std::weak_ptr<State>> states;  // they belong to those who enabled them: a thread that ends takes its session along
};
Joinable& joinable() {
  static auto& one = *new Joinable;
  return one;
}

constinit thread_local bool membership_gone = false;  // static objects of the main thread outlive it

// How the calling thread takes part in a session that another one began.
struct Membership {
  ~Membership() { membership_gone = true; }

  std::shared_ptr<State> joined;  // null if the thread records anyway
  std::weak_ptr<State> counted;   // what the count is about
  unsigned count = 0;
};
thread_local Membership own_membership;

// Null while the thread ends, or the process.
Membership* ownMembership() { return membership_gone ? nullptr : &own_membership; }

template <typename T>
T orThrow(Expected<T> value) {
  if (!value) throw ProfilerError(value.message());
  return std::move(*value);
}

bool onlyTellsOthers(ProfilerState state) { return state == ProfilerState::NVTX || state == ProfilerState::ITT || state == ProfilerState::PRIVATEUSE1; }

}  // namespace

std::shared_ptr<State> joinableState() {
  const std::lock_guard lock(joinable().mutex);
  std::vector<std::weak_ptr<State>>& states = joinable().states;
  while (!states.empty()) {
    std::shared_ptr<State> last = states.back().lock();
    if (last != nullptr && last->session().process_id == getpid() && last->session().run->running()) return last;
    states.pop_back();
  }
  return nullptr;
}

std::shared_ptr<State> startSession(session::SessionPlan plan, post_process_t callback, const char* owner) {
  const bool global = plan.config.pushGlobalCallbacks();
  if (const auto other = std::dynamic_pointer_cast<State>(ProfilerStateBase::get(global)); other != nullptr && other->session().owner != nullptr) {
    throw ProfilerError(fmt::format("Profiler is already enabled {}, by {}. Stop that one first", global ? "for all threads" : "on this thread", other->session().owner));
  }
  if (ProfilerStateBase::get(global) != nullptr) {
    throw ProfilerError(fmt::format("Profiler is already enabled{} Call disableProfiler() first", global ? " for all threads." : " on this thread."));
  }
  auto session = std::make_shared<State::Session>();
  const ProfilerConfig planned = plan.config;
  session->run = orThrow(session::ProfilerSession::start(std::move(plan)));
  session->callback = std::move(callback);
  session->process_id = getpid();
  session->owner = owner;
  const auto state = std::make_shared<State>(planned, session);
  ProfilerStateBase::push(state);
  session->run->join();
  const std::lock_guard lock(joinable().mutex);
  joinable().states.push_back(state);
  return state;
}

std::unique_ptr<ProfilerResult> stopSession(std::shared_ptr<State> state) {
  ProfilerStateBase::remove(state);  // another thread drops it from its own place when it next looks
  state->finish();
  {
    const std::lock_guard lock(joinable().mutex);
    std::vector<std::weak_ptr<State>>& states = joinable().states;
    states.erase(std::remove_if(states.begin(), states.end(), [&](const std::weak_ptr<State>& each) { return each.lock() == state; }), states.end());
  }
  state->removeCallback();
  State::Session& session = state->session();
  auto result = std::make_unique<ProfilerResult::State>(session.run->stop(), state->config(), std::move(session.callback));
  if (result->callback) result->table();
  return std::make_unique<ProfilerResult>(std::move(result));
}

void toggleSession(State& state, bool enable, const std::set<ActivityType>& activities) {
  for (const ActivityType activity : activities) {
    if (activity == ActivityType::CPU && state.session().run->recordsCpu()) {
      state.session().run->setCollecting(enable);
    } else if (activity != ActivityType::CPU && state.session().run->setDeviceCollecting(enable)) {
      continue;
    } else {
      base::warn(fmt::format("toggleCollectionDynamic: this session does not collect {}; there is nothing to toggle", actToString(activity)));
    }
  }
}

void checkMetadata(const std::string& key, const std::string& value) {
  if (!base::isJson(value)) {
    throw ProfilerError(fmt::format("addMetadataJson(\"{}\", …): the value is not JSON: {}. Quote texts, for example \"\\\"text\\\"\"", key, value.substr(0, 80)));
  }
  if (value.size() > capture::kMaxStringBytes || key.size() > capture::kMaxStringBytes) {
    throw ProfilerError(fmt::format("addMetadataJson: {} bytes for one key; at most {} can be kept. Split it", value.size() + key.size(), capture::kMaxStringBytes));
  }
}

KinetoThreadLocalState::KinetoThreadLocalState(ProfilerConfig config, std::shared_ptr<Session> session)
    : ProfilerStateBase(std::move(config)), session_(std::move(session)) {}
KinetoThreadLocalState::~KinetoThreadLocalState() = default;

std::shared_ptr<State> KinetoThreadLocalState::get(bool global) { return std::dynamic_pointer_cast<State>(ProfilerStateBase::get(global)); }

void prepareProfiler(const ProfilerConfig& config, const std::set<ActivityType>& activities) {
  const session::SessionPlan plan = orThrow(session::planSession(config, activities, {}));
  if (const Status status = session::warmUp(plan); !status) throw ProfilerError(status.message());
}

void enableProfiler(const ProfilerConfig& config, const std::set<ActivityType>& activities, const std::unordered_set<RecordScope>& scopes) {
  startSession(orThrow(session::planSession(config, activities, scopes)), nullptr, nullptr);
}

void enableProfilerWithEventPostProcess(const ProfilerConfig& config, const std::set<ActivityType>& activities, post_process_t&& callback,
                                        const std::unordered_set<RecordScope>& scopes) {
  if (onlyTellsOthers(config.state)) {
    throw ProfilerError(fmt::format("ProfilerState::{} does not support a post-processing callback: it records no events. Use KINETO", toString(config.state)));
  }
  if (config.experimental_config.trace_only) {
    throw ProfilerError("ExperimentalConfig::trace_only was asked for together with a post-process callback, which is called for events. Drop one of the two");
  }
  startSession(orThrow(session::planSession(config, activities, scopes)), std::move(callback), nullptr);
}

std::unique_ptr<ProfilerResult> disableProfiler() {
  const Membership* const membership = ownMembership();
  if (membership != nullptr && membership->joined != nullptr && ProfilerStateBase::get(false) == membership->joined) {
    throw ProfilerError("This thread has joined a profiler that another one enabled. Call disableProfilerInChildThread() here, and disableProfiler() there");
  }
  const auto state = std::dynamic_pointer_cast<State>(ProfilerStateBase::get());  // a state of somebody else's is not ours to end
  if (state != nullptr && state->session().owner != nullptr) {
    throw ProfilerError(fmt::format("Can't disable the profiler that is on: it belongs to {}. Stop it there", state->session().owner));
  }
  if (state == nullptr || !ProfilerStateBase::remove(state)) {
    throw ProfilerError("Can't disable Kineto profiler when it's not running. Call enableProfiler() on this thread first");
  }
  return stopSession(state);
}

bool isProfilerEnabledInMainThread() { return joinableState() != nullptr; }

void enableProfilerInChildThread() {
  std::shared_ptr<State> state = joinableState();
  Membership* const place = ownMembership();
  if (place == nullptr) throw ProfilerError("This thread is ending, and can join no session any more");
  Membership& membership = *place;
  if (const auto counted = membership.counted.lock(); membership.count != 0 && counted != nullptr && counted->session().run->running()) state = counted;
  if (state == nullptr) throw ProfilerError("Profiler is not enabled in main thread. Ask isProfilerEnabledInMainThread() before joining");
  if (membership.counted.lock() != state) {  // that session is over
    membership.joined = nullptr;
    membership.count = 0;
  }
  membership.counted = state;
  ++membership.count;
  if (membership.count > 1 || state->config().pushGlobalCallbacks()) return;
  if (ProfilerStateBase::get(false) != nullptr) return;  // the thread that enabled it, or one with a session of its own
  ProfilerStateBase::push(state);
  membership.joined = state;
  state->session().run->join();
}

void disableProfilerInChildThread() {
  Membership* const membership = ownMembership();
  if (membership == nullptr || membership->count == 0) {
    throw ProfilerError("Can't disable Kineto profiler when it's not running in this thread. Call enableProfilerInChildThread() here first");
  }
  if (--membership->count != 0 || membership->joined == nullptr) return;
  const std::shared_ptr<State> state = std::move(membership->joined);
  if (ProfilerStateBase::get(false) == state) ProfilerStateBase::pop(false);
  state->session().run->leave();
}

void reportBackendEventToActiveKinetoProfiler(int64_t start_time_us, int64_t end_time_us, int64_t debug_handle, RecordScope scope, const std::string& event_name,
                                              const std::string& backend_name) {
  const auto state = std::dynamic_pointer_cast<State>(ProfilerStateBase::get());
  if (state == nullptr) return;
  std::string members = "\"Backend\": " + base::quoted(backend_name);
  if (debug_handle >= 0) members += fmt::format(", \"Debug handle\": \"{}\"", debug_handle);
  const impl::kineto::DeviceAndResource ids = impl::kineto::kineto_ids();
  GivenEvent event;
  event.start_ns = start_time_us * 1000;
  event.duration_ns = (end_time_us - start_time_us) * 1000;
  event.process_id = ids.device;
  event.thread_id = ids.resource;
  event.activity_type = static_cast<int32_t>(libkineto::ActivityType::CPU_OP);
  event.name = event_name;
  event.metadata_json = members;
  state->session().run->report(event, scope < RecordScope::NUM_SCOPES ? scope : RecordScope::FUNCTION);
}

void toggleCollectionDynamic(bool enable, const std::set<ActivityType>& activities) {
  const auto state = std::dynamic_pointer_cast<State>(ProfilerStateBase::get());
  if (activities.empty()) return;
  if (state == nullptr) throw ProfilerError("toggleCollectionDynamic: no profiler is on. Call enableProfiler() first");
  toggleSession(*state, enable, activities);
}

void addMetadataJson(const std::string& key, const std::string& value) {
  checkMetadata(key, value);
  const std::shared_ptr<session::ProfilerSession> run = currentRun();
  if (run == nullptr) return base::warn("Profiler is not initialized: skipping profiling metadata");
  run->addMetadata(key, value);
}

void profilerStep() {
  if (const std::shared_ptr<session::ProfilerSession> run = currentRun()) run->step();
}

}  // namespace xsigma::profiler
