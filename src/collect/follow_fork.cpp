#include "collect/follow_fork.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "base/log.h"
#include "collect/live_capture.h"
#include "instrument/process_state.h"
#include "instrument/thread_registry.h"

namespace xsigma::profiler::collect {

using instrument::process;

namespace {

// What children inherit, and, in a child, what it records. Never destroyed: a child may record until its last instruction.
struct Following {
  CaptureOptions options;
  std::unique_ptr<LiveCapture> own;
};
Following& following() {
  static Following& state = *new Following;
  return state;
}

void stopOwn() {
  if (following().own != nullptr) following().own->stop();
}

// In the child, at its first scope.
void openOwn() noexcept {
  {
    const instrument::ControlSection section;
    const std::lock_guard lock(process.mutex);
    if (!process.follow_fork_pending) return;
    process.follow_fork_pending = false;
    instrument::publishChange();
  }
  CaptureOptions options = following().options;
  options.path = childPath(options.path, getpid());
  Expected<std::unique_ptr<LiveCapture>> live = LiveCapture::start(options);
  if (!live) return base::warn(fmt::format("the forked child {} is not recorded: {}", getpid(), live.message()));
  following().own = std::move(*live);
  followForks(following().options, following().own->session());
  static const int registered = std::atexit(stopOwn);
  static_cast<void>(registered);
}

}  // namespace

std::string childPath(const std::string& path, int process_id) {
  const size_t name = path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/') + 1;
  const size_t dot = path.find_last_of('.');
  const size_t end = dot == std::string::npos || dot <= name ? path.size() : dot;
  return fmt::format("{}.{}{}", path.substr(0, end), process_id, path.substr(end));
}

void followForks(const CaptureOptions& options, uint32_t session) {
  const instrument::ControlSection section;
  const std::lock_guard lock(process.mutex);
  following().options = options;
  process.follow_fork = openOwn;
  process.sessions[session].follow_fork = true;
}

}  // namespace xsigma::profiler::collect
