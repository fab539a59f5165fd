// libkineto::CpuTraceBuffer: activities that a client has collected itself, to be handed over with one call.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "GenericTraceActivity.h"
#include "TraceSpan.h"

namespace libkineto {

struct CpuTraceBuffer {
  template <class... Args>
  void emplace_activity(Args&&... args) {
    activities.emplace_back(std::make_unique<GenericTraceActivity>(std::forward<Args>(args)...));
  }
  static GenericTraceActivity& toRef(std::unique_ptr<GenericTraceActivity>& activity) { return *activity; }
  static const GenericTraceActivity& toRef(const std::unique_ptr<GenericTraceActivity>& activity) { return *activity; }

  TraceSpan span{0, 0, "none"};
  int gpuOpCount{0};
  std::deque<std::unique_ptr<GenericTraceActivity>> activities;
};

}  // namespace libkineto
