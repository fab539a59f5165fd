#include <fmt/format.h>
#include <unistd.h>

#include "base/log.h"
#include "xsigma/profiler/observer.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler {
namespace {

struct GlobalSlot {
  std::mutex mutex;
  std::shared_ptr<ProfilerStateBase> state;
};

// Never destroyed: a session may outlive main.
GlobalSlot& globalSlot() {
  static auto& slot = *new GlobalSlot;
  return slot;
}

// The session of the calling thread. Those of the main thread are destroyed before its static objects are, which may still end a session then:
// what tells them so has no destructor.
constinit thread_local bool own_state_gone = false;

struct OwnState {
  std::shared_ptr<ProfilerStateBase> state;
  ~OwnState() { own_state_gone = true; }  // before the state goes, which may ask for itself
};

thread_local OwnState own;

// Null while the thread ends, or the process.
std::shared_ptr<ProfilerStateBase>* ownState() { return own_state_gone ? nullptr : &own.state; }

}  // namespace

ProfilerStateBase::ProfilerStateBase(ProfilerConfig config) : config_(std::move(config)), process_id_(getpid()) {}

ProfilerStateBase::~ProfilerStateBase() { removeCallback(); }

std::shared_ptr<ProfilerStateBase> ProfilerStateBase::get(bool global) {
  if (!global) {
    std::shared_ptr<ProfilerStateBase>* const place = ownState();
    if (place == nullptr || *place == nullptr) return nullptr;
    if ((*place)->finished_ || (*place)->process_id_ != getpid()) *place = nullptr;
    return *place;
  }
  GlobalSlot& slot = globalSlot();
  const std::lock_guard lock(slot.mutex);
  if (slot.state != nullptr && slot.state->process_id_ != getpid()) slot.state = nullptr;  // the parent's
  return slot.state;
}

std::shared_ptr<ProfilerStateBase> ProfilerStateBase::get() {
  std::shared_ptr<ProfilerStateBase> state = get(false);
  return state != nullptr ? state : get(true);
}

void ProfilerStateBase::push(std::shared_ptr<ProfilerStateBase> state) {
  constexpr const char* kAdvice = "Call disableProfiler() first";
  if (!state->config().pushGlobalCallbacks()) {
    if (get(false) != nullptr) throw ProfilerError(fmt::format("Profiler is already enabled on this thread. {}", kAdvice));
    std::shared_ptr<ProfilerStateBase>* const place = ownState();
    if (place == nullptr) throw ProfilerError("This thread is ending, and can have no session of its own any more. Record all threads");
    *place = std::move(state);
    return;
  }
  GlobalSlot& slot = globalSlot();
  const std::lock_guard lock(slot.mutex);
  if (slot.state != nullptr && slot.state->process_id_ == getpid()) throw ProfilerError(fmt::format("Profiler is already enabled for all threads. {}", kAdvice));
  slot.state = std::move(state);
}

std::shared_ptr<ProfilerStateBase> ProfilerStateBase::pop(bool global) {
  if (!global) {
    std::shared_ptr<ProfilerStateBase> state = get(false);
    if (state != nullptr) *ownState() = nullptr;
    return state;
  }
  GlobalSlot& slot = globalSlot();
  const std::lock_guard lock(slot.mutex);
  return std::move(slot.state);
}

std::shared_ptr<ProfilerStateBase> ProfilerStateBase::pop() {
  return get(false) != nullptr ? pop(false) : pop(true);
}

bool ProfilerStateBase::remove(const std::shared_ptr<ProfilerStateBase>& state) {
  if (state == nullptr) return false;
  if (std::shared_ptr<ProfilerStateBase>* const place = ownState(); place != nullptr && *place == state) {
    *place = nullptr;
    return true;
  }
  GlobalSlot& slot = globalSlot();
  const std::lock_guard lock(slot.mutex);
  if (slot.state != state) return false;
  slot.state = nullptr;
  return true;
}

void ProfilerStateBase::setCallbackHandle(CallbackHandle handle) {
  removeCallback();
  const std::lock_guard lock(state_mutex_);
  handle_ = handle;
}

void ProfilerStateBase::removeCallback() {
  CallbackHandle handle = INVALID_CALLBACK_HANDLE;
  {
    const std::lock_guard lock(state_mutex_);
    std::swap(handle, handle_);
  }
  if (handle != INVALID_CALLBACK_HANDLE) profiler::removeCallback(handle);
}

bool ProfilerStateBase::hasCallbackHandle() {
  const std::lock_guard lock(state_mutex_);
  return handle_ != INVALID_CALLBACK_HANDLE;
}

bool profilerEnabled() {
  const std::shared_ptr<ProfilerStateBase> state = ProfilerStateBase::get();
  return state != nullptr && !state->config().disabled();
}

ActiveProfilerType profilerType() {
  const std::shared_ptr<ProfilerStateBase> state = ProfilerStateBase::get();
  return state != nullptr ? state->profilerType() : ActiveProfilerType::NONE;
}

ProfilerConfig getProfilerConfig() {
  const std::shared_ptr<ProfilerStateBase> state = ProfilerStateBase::get();
  if (state == nullptr) throw ProfilerError("Tried to access profiler config, but profiler is not enabled! Call enableProfiler() first");
  return state->config();
}

}  // namespace xsigma::profiler
