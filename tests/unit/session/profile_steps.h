// A Profile that goes through a schedule written as text.
#pragma once

#include <regex.h>

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

// The whole text, by an extended regular expression. (std::regex does not pass GCC's own warnings in sanitized builds.)
inline bool matches(const std::string& text, const std::string& pattern) {
  regex_t compiled;
  if (regcomp(&compiled, ("^(" + pattern + ")$").c_str(), REG_EXTENDED | REG_NOSUB) != 0)
    throw std::runtime_error("no pattern: " + pattern);
  const bool found = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return found;
}

}  // namespace xsigma::profiler::profiled
