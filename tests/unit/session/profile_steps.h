// A Profile that goes through a schedule written as text.
#pragma once

#include <string>

#include "../profiled.h"

namespace xsigma::profiler::profiled {

// A letter per step: N none, W warm-up, R record, S record and save; none after the last.
inline Schedule byText(std::string text) {
  return [text = std::move(text)](int64_t step) {
    if (step >= static_cast<int64_t>(text.size())) return ProfilerAction::NONE;
    return static_cast<ProfilerAction>(std::string("NWRS").find(text[static_cast<size_t>(step)]));
  };
}

inline ProfileOptions scheduled(Schedule by, TraceHandler handler = {}) {
  ProfileOptions options;
  options.schedule = std::move(by);
  options.on_trace_ready = std::move(handler);
  return options;
}

// From start to stop; the scope "work N" is inside step N.
inline void runSteps(Profile& profile, int64_t steps) {
  profile.start();
  for (int64_t step = 0; step < steps; ++step) {
    scopeCalled("work " + std::to_string(step));
    profile.step();
  }
  profile.stop();
}

}  // namespace xsigma::profiler::profiled
