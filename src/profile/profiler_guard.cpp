#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "base/log.h"
#include "kineto/session_state.h"
#include "xsigma/profiler/session.h"

namespace xsigma::profiler {
namespace {

ProfilerConfig allThreads() {
  ProfilerConfig config(ProfilerState::KINETO);
  config.experimental_config.profile_all_threads = true;
  return config;
}

}  // namespace

ProfilerGuard::ProfilerGuard(const ProfilerConfig& config, const std::set<ActivityType>& activities, std::string path)
    : path_(std::move(path)) {
  Expected<session::SessionPlan> plan = session::planSession(config, activities, {});
  if (!plan) throw ProfilerError(plan.message());
  session_ = startSession(std::move(*plan), nullptr, "a ProfilerGuard");
}

ProfilerGuard::ProfilerGuard(std::string path) : ProfilerGuard(allThreads(), {ActivityType::CPU}, std::move(path)) {
  if (path_.empty()) base::warn("ProfilerGuard: the path is empty; what is recorded will not be saved unless stop() is called for it");
}

ProfilerGuard::~ProfilerGuard() {
  if (!active()) return;
  try {
    stop();
  } catch (const std::exception& error) {
    base::warn(fmt::format("ProfilerGuard: its end went wrong: {}", error.what()));
  }
}

bool ProfilerGuard::active() const noexcept { return session_ != nullptr && session_->session().process_id == getpid(); }

std::unique_ptr<ProfilerResult> ProfilerGuard::stop() {
  if (!active())
    throw ProfilerError(
        "ProfilerGuard::stop() was called, and its session is over, or of the process that this one was forked from. Make a new guard");
  std::unique_ptr<ProfilerResult> result = stopSession(std::exchange(session_, nullptr));
  if (path_.empty()) return result;
  try {
    result->save(path_);
  } catch (const std::exception& error) {
    base::warn(fmt::format("ProfilerGuard: {}", error.what()));
  }
  return result;
}

}  // namespace xsigma::profiler
