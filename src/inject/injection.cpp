#include "inject/injection.h"

#include <fmt/format.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <system_error>

#include "base/environment.h"
#include "base/log.h"
#include "base/quiet_thread.h"
#include "inject/capture_path.h"
#include "inject/voice.h"
#include "session/profiler_session.h"

namespace xsigma::profiler::inject {
namespace {

constexpr std::chrono::milliseconds kMostAtExit{8000};  // devices get five seconds of it

// The session of this process. Never destroyed.
struct Injected {
  std::shared_ptr<session::ProfilerSession> session;
  std::string path;
  sem_t asked{};  // to end
  sem_t ended{};
  std::atomic<bool> ending{false};
};

constinit std::atomic<Injected*> injected{nullptr};
constinit std::atomic<pid_t> started_in{0};  // a forked child inherits the memory, but not the session
constinit std::atomic<pid_t> empty_in{0};

Expected<session::SessionPlan> makePlan(const std::set<ActivityType>& activities, const std::string& path) {
  const auto range = base::environmentChoice("XSP_CAPTURE_RANGE", {"all", "api"});
  if (!range) return range.status();
  ProfilerConfig config(ProfilerState::KINETO);
  config.experimental_config.profile_all_threads = true;
  Expected<session::SessionPlan> plan = session::planSession(config, activities, {});
  if (!plan) return plan;
  plan->config.experimental_config.capture.path = path;
  plan->between_marks = range->value_or(0) == 1;
  return plan;
}

Expected<std::shared_ptr<session::ProfilerSession>> startSession(const std::set<ActivityType>& activities, const std::string& path) {
  Expected<session::SessionPlan> plan = makePlan(activities, path);
  if (!plan) return plan.status();
  return session::ProfilerSession::start(std::move(*plan));
}

void end(Injected& own) noexcept {
  try {
    const Capture capture = own.session->stop();
    capture.info();  // waits for what devices still have
    base::log(LogLevel::info, summaryOf(capture, own.path));
  } catch (const std::exception& error) {
    base::log(LogLevel::error, fmt::format("the capture {} is not closed: {}", own.path, error.what()));
  }
}

void waitFor(sem_t& semaphore) noexcept {
  while (sem_wait(&semaphore) != 0 && errno == EINTR) {
  }
}

// Ends the session when it is asked to. A thread of its own, so that whoever asks may be a signal handler, and need not wait for ever.
void startCloser(Injected& own) {
  try {
    base::startQuietThread("xsp-closer", [&own] {
      waitFor(own.asked);
      end(own);
      sem_post(&own.ended);
      // The process ends: a thread that has called the vendor's library does not end beside that library's own end.
      while (true) pause();
    }).detach();
  } catch (const std::system_error& error) {
    base::warn(fmt::format("no thread to be had, so the capture will look as if the program had been killed: {}", error.what()));
  }
}

void atExit() { finish(kMostAtExit); }

void sayNothingHeard() {
  if (empty_in.load() != getpid() || started_in.load() == getpid()) return;
  base::log(LogLevel::info,
            fmt::format("nothing was heard of {} (process {}): it did not use CUDA. Children of it that do record into files of their own",
                        program_invocation_short_name, getpid()));
}

void startOrThrow() {
  speak();
  auto own = std::make_unique<Injected>();
  own->path = capturePath();
  auto session = startSession({ActivityType::CPU, ActivityType::CUDA}, own->path);
  if (!session) return base::log(LogLevel::error, "nothing is recorded: " + session.message());
  own->session = std::move(*session);
  sem_init(&own->asked, 0, 0);
  sem_init(&own->ended, 0, 0);
  startCloser(*own);
  injected.store(own.release(), std::memory_order_release);
  // What ends last was registered first. CUDA and its profiling library have registered theirs by now: these run before.
  std::atexit(atExit);
  std::at_quick_exit(atExit);
}

}  // namespace

void start() noexcept {
  if (started_in.exchange(getpid()) == getpid()) return;
  injected.store(nullptr, std::memory_order_release);  // the parent's
  try {
    startOrThrow();
  } catch (const std::exception& error) {
    base::log(LogLevel::error, fmt::format("nothing is recorded: {}", error.what()));
  }
}

void finish(std::chrono::milliseconds deadline) noexcept {
  if (started_in.load() != getpid()) return;
  Injected* const own = injected.load(std::memory_order_acquire);
  if (own == nullptr) return;
  const int before = errno;
  if (!own->ending.exchange(true)) sem_post(&own->asked);
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  const int64_t ns = until.tv_nsec + deadline.count() % 1000 * 1'000'000;
  until.tv_sec += static_cast<time_t>(deadline.count() / 1000 + ns / 1'000'000'000);
  until.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  int result;
  do {
    result = sem_timedwait(&own->ended, &until);
  } while (result != 0 && errno == EINTR);
  if (result == 0) sem_post(&own->ended);  // for the next one who asks
  errno = before;
}

void leaveEmptyCapture() noexcept {
  try {
    speak();
    const auto session = startSession({ActivityType::CPU}, capturePath());
    if (!session) return base::log(LogLevel::error, "nothing will be recorded: " + session.message());
    (*session)->stop();
    empty_in.store(getpid());
    std::atexit(sayNothingHeard);
  } catch (const std::exception& error) {
    base::log(LogLevel::error, fmt::format("nothing will be recorded: {}", error.what()));
  }
}

}  // namespace xsigma::profiler::inject
