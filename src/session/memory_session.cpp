#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <optional>

#include "collect/follow_fork.h"
#include "collect/live_capture.h"
#include "collect/options.h"
#include "xsigma/profiler/memory_profile.h"

namespace xsigma::profiler {
namespace {

using collect::LiveCapture;

// The memory profile of the process: the one that runs, and the last one that ran.
class MemorySession {
 public:
  void start(const CaptureOptions& asked) {
    const std::lock_guard lock(mutex_);
    forgetParent();
    if (live_ != nullptr) throw ProfilerError("startMemoryProfile: a memory profile runs already. Call stopMemoryProfile() first");
    Expected<CaptureOptions> options = collect::withEnvironment(asked);
    if (options.ok()) options->path = asked.path;  // the file that the environment names is for the program's other recordings
    Status status = options.ok() ? collect::checkOptions(*options) : options.status();
    if (!status) throw ProfilerError("startMemoryProfile: " + status.message());
    Expected<std::unique_ptr<LiveCapture>> live = LiveCapture::start(*options);
    if (!live) throw ProfilerError("startMemoryProfile: " + live.message());
    if (options->follow_fork) collect::followForks(*options, (*live)->session());
    live_ = std::move(*live);
    process_id_ = getpid();
    last_.reset();
    analyzed_ = nullptr;
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    forgetParent();
    if (live_ == nullptr) throw ProfilerError("stopMemoryProfile: no memory profile runs. Call startMemoryProfile() first");
    last_ = live_->stop();
    live_ = nullptr;
    analyzed_ = nullptr;
  }

  // Worked out once after the end; anew each time before it.
  std::shared_ptr<const MemoryProfile> profile(const char* call) {
    Capture capture;
    bool finished = false;
    {
      const std::lock_guard lock(mutex_);
      forgetParent();
      if (analyzed_ != nullptr) return analyzed_;
      if (live_ == nullptr && !last_) {
        throw ProfilerError(fmt::format("{}: there is no memory profile. Call startMemoryProfile() first, and run what allocates", call));
      }
      finished = live_ == nullptr;
      capture = finished ? *last_ : live_->snapshot();
    }
    auto profile = std::make_shared<const MemoryProfile>(analyzeMemory(capture));
    const std::lock_guard lock(mutex_);
    if (finished && last_ && last_->source() == capture.source()) analyzed_ = profile;
    return profile;
  }

 private:
  // After a fork the recording is the parent's.
  void forgetParent() {
    if (live_ == nullptr || process_id_ == getpid()) return;
    live_ = nullptr;
    last_.reset();
    analyzed_ = nullptr;
  }

  std::mutex mutex_;
  std::unique_ptr<LiveCapture> live_;
  int process_id_ = 0;
  std::optional<Capture> last_;
  std::shared_ptr<const MemoryProfile> analyzed_;
};

// Never destroyed: a profile may run until the very end.
MemorySession& memorySession() {
  static auto& session = *new MemorySession;
  return session;
}

}  // namespace

void startMemoryProfile(const CaptureOptions& options) { memorySession().start(options); }
void stopMemoryProfile() { memorySession().stop(); }
MemoryProfile memoryProfile() { return *memorySession().profile("memoryProfile"); }

void exportMemoryProfile(const std::string& path) {
  const Status status = memorySession().profile("exportMemoryProfile")->save(path);
  if (!status) throw ProfilerError("exportMemoryProfile: " + status.message());
}

}  // namespace xsigma::profiler
