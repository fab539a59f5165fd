// In place of profiler_kineto.cpp and the results, where the library is built with XSIGMA_ENABLE_KINETO=OFF.
#include "xsigma/profiler/profiler_kineto.h"

namespace xsigma::profiler {

struct KinetoThreadLocalState::Session {};
struct ProfilerResult::State {};
struct KinetoEvent::Table {};

namespace {

[[noreturn]] void refuse(const char* call) {
  throw ProfilerError(std::string(call) + ": this library was built with XSIGMA_ENABLE_KINETO=OFF, without the KINETO states. Build it with XSIGMA_ENABLE_KINETO=ON");
}

}  // namespace

KinetoThreadLocalState::KinetoThreadLocalState(ProfilerConfig config, std::shared_ptr<Session> session)
    : ProfilerStateBase(std::move(config)), session_(std::move(session)) {}
KinetoThreadLocalState::~KinetoThreadLocalState() = default;
std::shared_ptr<KinetoThreadLocalState> KinetoThreadLocalState::get(bool) { return nullptr; }

ProfilerResult::ProfilerResult() = default;
ProfilerResult::ProfilerResult(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProfilerResult::~ProfilerResult() = default;
int64_t ProfilerResult::trace_start_ns() const { return 0; }
const std::vector<KinetoEvent>& ProfilerResult::events() const {
  static const std::vector<KinetoEvent> none;
  return none;
}
const std::vector<std::shared_ptr<Result>>& ProfilerResult::event_tree() const {
  static const std::vector<std::shared_ptr<Result>> none;
  return none;
}
void ProfilerResult::save(const std::string&) const { refuse("ProfilerResult::save"); }
KeyAverages ProfilerResult::keyAverages(const GroupBy&) const { refuse("ProfilerResult::keyAverages"); }
void ProfilerResult::exportStacks(const std::string&, std::string_view) const { refuse("ProfilerResult::exportStacks"); }
Ledger ProfilerResult::ledger() const { return {}; }
const Capture& ProfilerResult::capture() const {
  static const Capture none;
  return none;
}
bool ProfilerResult::complete() const { return true; }

void prepareProfiler(const ProfilerConfig&, const std::set<ActivityType>&) { refuse("prepareProfiler"); }
void enableProfiler(const ProfilerConfig&, const std::set<ActivityType>&, const std::unordered_set<RecordScope>&) { refuse("enableProfiler"); }
void enableProfilerWithEventPostProcess(const ProfilerConfig&, const std::set<ActivityType>&, post_process_t&&, const std::unordered_set<RecordScope>&) {
  refuse("enableProfilerWithEventPostProcess");
}
std::unique_ptr<ProfilerResult> disableProfiler() { refuse("disableProfiler"); }
bool isProfilerEnabledInMainThread() { return false; }
void enableProfilerInChildThread() { refuse("enableProfilerInChildThread"); }
void disableProfilerInChildThread() { refuse("disableProfilerInChildThread"); }
void reportBackendEventToActiveKinetoProfiler(int64_t, int64_t, int64_t, RecordScope, const std::string&, const std::string&) {}
void toggleCollectionDynamic(bool, const std::set<ActivityType>&) { refuse("toggleCollectionDynamic"); }
void addMetadataJson(const std::string&, const std::string&) { refuse("addMetadataJson"); }
void profilerStep() {}

}  // namespace xsigma::profiler
