// In place of profile.cpp and profiler_guard.cpp, where the library is built with XSIGMA_ENABLE_KINETO=OFF.
#include <utility>

#include "xsigma/profiler/session.h"

namespace xsigma::profiler {

struct Profile::State {
  std::vector<std::shared_ptr<const ProfilerResult>> results;
};

namespace {

[[noreturn]] void refuse(const char* call) {
  throw ProfilerError(
      std::string(call) +
      ": this library was built with XSIGMA_ENABLE_KINETO=OFF, without the KINETO states. Build it with XSIGMA_ENABLE_KINETO=ON");
}

}  // namespace

Profile::Profile(ProfileOptions) : state_(std::make_unique<State>()) {}
Profile::~Profile() = default;
void Profile::start() { refuse("Profile::start"); }
void Profile::step() {}
void Profile::stop() { refuse("Profile::stop"); }
bool Profile::running() const noexcept { return false; }
int64_t Profile::stepNumber() const noexcept { return 0; }
ProfilerAction Profile::currentAction() const noexcept { return ProfilerAction::NONE; }
std::string Profile::traceId() const { return {}; }
int64_t Profile::cycle() const noexcept { return 0; }
std::string Profile::lastHandlerError() const { return {}; }
void Profile::toggleCollectionDynamic(bool, const std::set<ActivityType>&) { refuse("Profile::toggleCollectionDynamic"); }
void Profile::addMetadata(const std::string&, const std::string&) { refuse("Profile::addMetadata"); }
void Profile::addMetadataJson(const std::string&, const std::string&) { refuse("Profile::addMetadataJson"); }
void Profile::presetMetadataJson(const std::string&, const std::string&) { refuse("Profile::presetMetadataJson"); }
std::shared_ptr<const ProfilerResult> Profile::result() const { refuse("Profile::result"); }
const std::vector<std::shared_ptr<const ProfilerResult>>& Profile::results() const noexcept { return state_->results; }
std::vector<KinetoEvent> Profile::events() const { return {}; }
KeyAverages Profile::keyAverages(const GroupBy&) const { refuse("Profile::keyAverages"); }
void Profile::exportStacks(const std::string&, std::string_view) const { refuse("Profile::exportStacks"); }
void Profile::exportMemoryTimeline(const std::string&) const { refuse("Profile::exportMemoryTimeline"); }
void Profile::save(const std::string&) const { refuse("Profile::save"); }
void Profile::exportChromeTrace(const std::string&) const { refuse("Profile::exportChromeTrace"); }

ProfilerGuard::ProfilerGuard(const ProfilerConfig&, const std::set<ActivityType>&, std::string path) : path_(std::move(path)) {
  refuse("ProfilerGuard");
}
ProfilerGuard::ProfilerGuard(std::string path) : path_(std::move(path)) { refuse("ProfilerGuard"); }
ProfilerGuard::~ProfilerGuard() = default;
std::unique_ptr<ProfilerResult> ProfilerGuard::stop() { refuse("ProfilerGuard::stop"); }
bool ProfilerGuard::active() const noexcept { return false; }

}  // namespace xsigma::profiler
