#include <fmt/format.h>

#include <exception>
#include <string_view>

#include "base/json_text.h"
#include "base/log.h"
#include "profile/profile_state.h"

namespace xsigma::profiler {

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
  state.left_to_parent = false;
  state.openStep();
}

void Profile::step() {
  State& state = *state_;
  state.refuseInHandler("step()");
  if (state.refuseParents("step()")) return;
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
  if (state.refuseParents("stop()")) return;
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

KeyAverages Profile::keyAverages(const GroupBy& group_by) const {
  const std::shared_ptr<const ProfilerResult> last = result();
  if (state_->results.size() == 1) return last->keyAverages(group_by);
  std::vector<Capture> captures;
  for (const auto& each : state_->results) captures.push_back(each->capture());
  return profiler::keyAverages(captures, group_by);
}

void Profile::exportStacks(const std::string& path, std::string_view metric) const { result()->exportStacks(path, metric); }

void Profile::exportMemoryTimeline(const std::string& path) const {
  const std::shared_ptr<const ProfilerResult> last = result();
  if (!state_->options.profile_memory) {
    throw ProfilerError(fmt::format("exportMemoryTimeline('{}'): this profile records no memory. Set ProfileOptions::profile_memory", path));
  }
  if (const Status status = analyzeMemory(last->capture()).save(path); !status) throw ProfilerError(status.message());
}

void Profile::save(const std::string& path) const { result()->save(path); }

void Profile::exportChromeTrace(const std::string& path) const {
  if (path.ends_with(".xst")) {
    throw ProfilerError(
        fmt::format("exportChromeTrace writes JSON, and '{}' is the name of a capture. Use save(), or a name with .json", path));
  }
  save(path);
}

}  // namespace xsigma::profiler
