// Profile::State: where a run stands, and how it goes from one action to the next.
#pragma once

#include <unistd.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kineto/session_state.h"
#include "xsigma/profiler/record_function.h"
#include "xsigma/profiler/session.h"

namespace xsigma::profiler {

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
  bool left_to_parent = false;  // until start() is called in this process
  std::string handler_error;

  bool allThreads() const noexcept { return options.all_threads || options.experimental_config.profile_all_threads; }
  bool isOurs() const noexcept { return process_id == getpid(); }
  void refuseInHandler(const char* call) const;
  void refuseOtherThread(const char* call) const;
  // A forked child has a copy of what runs in its parent. Says whether that was so.
  bool leaveToParent();
  // The same for calls of an inherited loop, however many come: the first of them warns.
  bool refuseParents(const char* call);

  ProfilerAction actionAt(int64_t number) const;
  session::SessionPlan plan() const;
  void prepare();
  void startCycle();
  bool stopCycle();
  void cycleReady(Profile& profile);
  void transit(Profile& profile, ProfilerAction from, std::optional<ProfilerAction> to);
  void openStep();
};

}  // namespace xsigma::profiler
