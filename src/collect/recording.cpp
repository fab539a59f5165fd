#include "collect/live_capture.h"
#include "collect/follow_fork.h"
#include "collect/options.h"
#include "xsigma/profiler/capture.h"

namespace xsigma::profiler {

struct Recording::State {
  std::unique_ptr<collect::LiveCapture> live;
};

Recording::Recording(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

Capture Recording::stop() { return state_->live->stop(); }
Capture Recording::snapshot() const { return state_->live->snapshot(); }

Expected<Recording> startRecording(CaptureOptions options) {
  Expected<CaptureOptions> effective = collect::withEnvironment(std::move(options));
  if (!effective) return effective.status();
  if (const Status status = collect::checkOptions(*effective); !status) return status;
  Expected<std::unique_ptr<collect::LiveCapture>> live = collect::LiveCapture::start(*effective);
  if (!live) return live.status();
  if (effective->follow_fork) collect::followForks(*effective, (*live)->session());
  auto state = std::make_unique<Recording::State>();
  state->live = std::move(*live);
  return Recording(std::move(state));
}

}  // namespace xsigma::profiler
