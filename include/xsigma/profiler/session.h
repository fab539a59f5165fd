// Profile: recording by schedule, cycle after cycle, with handlers for the traces; and scoped forms of profiling.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "xsigma/profiler/key_averages.h"
#include "xsigma/profiler/observer.h"
#include "xsigma/profiler/profiler_kineto.h"
#include "xsigma/profiler/record_scope.h"

namespace xsigma::profiler {

// What a step is for.
enum class ProfilerAction {
  NONE = 0,
  WARMUP,           // what recording needs is made ready
  RECORD,
  RECORD_AND_SAVE,  // the last step of a cycle: after it the trace is ready
};

// "NONE", "WARMUP" and so on.
XSIGMA_PROFILER_API const char* toString(ProfilerAction action) noexcept;

// From the number of a step, 0 being the first, to its action. Any function will do.
using Schedule = std::function<ProfilerAction(int64_t step)>;

// Skips skip_first steps; then cycles of `wait` idle steps, `warmup` steps and `active` recorded ones, `repeat` times (0: without end). With
// skip_first_wait other than 0 the first cycle does not wait; `repeat` is then reckoned as if it had. Throws ProfilerError if one of them is below
// 0 or `active` is 0; warns if `warmup` is 0.
XSIGMA_PROFILER_API Schedule schedule(int64_t wait, int64_t warmup, int64_t active, int64_t repeat = 0, int64_t skip_first = 0,
                                      int64_t skip_first_wait = 0);

class Profile;

// Called once per cycle, when its trace is ready, on the thread that called step() or stop(). May save it, look into it, add preset metadata; must
// not start, step or stop the profile. What it throws becomes a warning and lastHandlerError(); the profile goes on.
using TraceHandler = std::function<void(Profile&)>;

struct ProfileOptions {
  std::set<ActivityType> activities{ActivityType::CPU};
  Schedule schedule{};  // none: everything from start to stop is recorded, and steps leave no marks
  TraceHandler on_trace_ready{};
  bool record_shapes = false;
  bool profile_memory = false;
  bool with_stack = false;
  bool with_flops = false;
  bool with_modules = false;
  ExperimentalConfig experimental_config{};  // with capture.path, later cycles go to files of their own: run.xst, run.2.xst, …
  bool acc_events = false;                   // results of all cycles are kept, not only of the last; memory grows with each
  bool all_threads = true;                   // otherwise the thread that starts, and those that join
  std::function<std::string()> trace_id_callback{};
  std::unordered_set<RecordScope> scopes{};  // if not empty, the only ones recorded; then ProfilerStep#N needs USER_SCOPE
};

// Calls on one Profile come from one thread at a time; without all_threads, start, step and stop from one thread. It ends its own session, whatever
// others are on. In a forked child it is idle: step and stop of a run that is the parent's warn, once, and do nothing until start is called there.
class XSIGMA_PROFILER_API Profile {
 public:
  explicit Profile(ProfileOptions options = {});
  // Stops it if it runs; what goes wrong then becomes a warning.
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // Begins a run at step 0. Throws ProfilerError if it runs already, and for anything that cannot be honoured here.
  void start();
  // One iteration has passed: its scope ProfilerStep#N ends, and the next one begins if it is recorded. Warns and does nothing unless the profile
  // runs. A cycle that cannot start is left out, with a warning. What the schedule throws comes out, and the step has not been made.
  void step();
  // Ends the run. A cycle that is being recorded is ready with it. Throws ProfilerError if it does not run.
  void stop();

  bool running() const noexcept;
  int64_t stepNumber() const noexcept;
  ProfilerAction currentAction() const noexcept;  // NONE unless it runs
  // Of the cycle that is prepared or recorded, otherwise of the last one; "" before the first. From the callback, or 32 random hexadecimal digits.
  std::string traceId() const;
  // How many traces were ready so far; in a handler the number of its cycle, from 1.
  int64_t cycle() const noexcept;
  // Of the last handler that threw; "" if none did.
  std::string lastHandlerError() const;

  // Switches collection off and on within the cycle that is recorded; the next one begins with it on.
  void toggleCollectionDynamic(bool enable, const std::set<ActivityType>& activities);

  // A key of the trace that is being recorded. Warns and does nothing if there is none. Values: a text, or JSON (ProfilerError if it is not).
  void addMetadata(const std::string& key, const std::string& text);
  void addMetadataJson(const std::string& key, const std::string& json);
  // Kept for the traces of all cycles that start from now on.
  void presetMetadataJson(const std::string& key, const std::string& json);

  // The last cycle that was recorded. Throws ProfilerError if there is none yet.
  std::shared_ptr<const ProfilerResult> result() const;
  // With acc_events of all cycles, in their order; otherwise at most the last.
  const std::vector<std::shared_ptr<const ProfilerResult>>& results() const noexcept;
  // Of results(), one after the other.
  std::vector<KinetoEvent> events() const;
  // Of results(), put together. Throws ProfilerError if there is none yet; so do those below.
  KeyAverages keyAverages(const GroupBy& group_by = {}) const;
  // The last cycle, for flame graphs; see exportStacks() of key_averages.h.
  void exportStacks(const std::string& path, std::string_view metric = "self_cpu_time_total") const;
  // The memory of the last cycle, by ending: .html, a picture, or .json. Needs profile_memory; see memory_profile.h.
  void exportMemoryTimeline(const std::string& path) const;
  // The last cycle, by ending as ProfilerResult::save.
  void save(const std::string& path) const;
  // As JSON: .json, or .json.gz.
  void exportChromeTrace(const std::string& path) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Saves each cycle. In the path {cycle} becomes its number, {step} the step after it. Without either, the first cycle gets the path as it is and
// later ones their number before the ending: trace.json, trace.2.json, …
XSIGMA_PROFILER_API TraceHandler chromeTraceHandler(std::string path);
// Saves each cycle where TensorBoard looks for it: folder/<host>_<pid>.<ns>.pt.trace.json, or .json.gz; a worker's name stands for <host>_<pid>.
// Creates the folder. Throws ProfilerError for an empty folder and a worker's name with a slash.
XSIGMA_PROFILER_API TraceHandler tensorboardTraceHandler(std::string folder, std::string worker_name = {}, bool use_gzip = false);

// A Profile that runs as long as it lives.
class XSIGMA_PROFILER_API ScopedProfile {
 public:
  explicit ScopedProfile(ProfileOptions options = {});

  Profile& operator*() noexcept { return profile_; }
  Profile* operator->() noexcept { return &profile_; }

 private:
  Profile profile_;
};

// enableProfiler and disableProfiler as one object. The session is the guard's: nobody else can end it.
class XSIGMA_PROFILER_API ProfilerGuard {
 public:
  // Saves to `path` at the end, if there is one.
  ProfilerGuard(const ProfilerConfig& config, const std::set<ActivityType>& activities, std::string path = {});
  // KINETO with {CPU}, all threads.
  explicit ProfilerGuard(std::string path);
  // Stops and saves; what goes wrong then becomes a warning.
  ~ProfilerGuard();
  ProfilerGuard(const ProfilerGuard&) = delete;
  ProfilerGuard& operator=(const ProfilerGuard&) = delete;

  // Stops now, and saves if there is a path. Never null: what cannot be saved is still returned, with a warning that says why. Throws
  // ProfilerError if it was stopped before.
  std::unique_ptr<ProfilerResult> stop();
  bool active() const noexcept;

 private:
  std::shared_ptr<KinetoThreadLocalState> session_;
  std::string path_;
};

}  // namespace xsigma::profiler
