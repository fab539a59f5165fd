#include "xsigma/profiler/profiler_api.h"

#include <fmt/format.h>

#include <exception>
#include <mutex>
#include <optional>

#include "base/log.h"

namespace xsigma::profiler {

struct ProfilerSession::State {
  mutable std::mutex mutex;
  std::optional<ProfilerGuard> guard;  // while it is on
  std::shared_ptr<const ProfilerResult> result;

  bool active() const { return guard && guard->active(); }
};

ProfilerSession::ProfilerSession() : state_(new State) {}

ProfilerSession& ProfilerSession::instance() {
  static auto& one = *new ProfilerSession;
  return one;
}

bool ProfilerSession::start(const ProfilerConfig& config, const std::set<ActivityType>& activities) {
  const std::lock_guard lock(state_->mutex);
  try {
    if (state_->active()) throw ProfilerError("it is on already. Call stop() first");
    ProfilerConfig all = config;
    all.experimental_config.profile_all_threads = true;
    state_->guard.emplace(all, activities);
    return true;
  } catch (const std::exception& error) {
    base::warn(fmt::format("ProfilerSession::start: {}", error.what()));
    return false;
  }
}

bool ProfilerSession::stop() {
  const std::lock_guard lock(state_->mutex);
  if (!state_->active()) {
    base::warn("ProfilerSession::stop: it is not on. Call start() first");
    return false;
  }
  state_->result = state_->guard->stop();
  state_->guard.reset();
  return true;
}

bool ProfilerSession::is_active() const {
  const std::lock_guard lock(state_->mutex);
  return state_->active();
}

bool ProfilerSession::export_trace(const std::string& path) const {
  const std::lock_guard lock(state_->mutex);
  try {
    if (state_->active()) throw ProfilerError(fmt::format("cannot write '{}' while the session is on. Call stop() first", path));
    if (state_->result == nullptr)
      throw ProfilerError(fmt::format("cannot write '{}': there was no session yet. Call start() and stop() first", path));
    state_->result->save(path);
    return true;
  } catch (const std::exception& error) {
    base::warn(fmt::format("ProfilerSession::export_trace: {}", error.what()));
    return false;
  }
}

std::shared_ptr<const ProfilerResult> ProfilerSession::result() const {
  const std::lock_guard lock(state_->mutex);
  return state_->result;
}

}  // namespace xsigma::profiler
