// Threads come, go and catch up with changes.
#pragma once

#include "instrument/thread_slot.h"

namespace xsigma::profiler::instrument {

// The calling thread's slot, made if need be; null if there is no memory, or if a signal arrived while it was being made.
ThreadSlot* attachThread() noexcept;

// For whoever has just entered `slot` and found `was`: the slot in step with the active word, still busy; or null, already left, when there is
// nothing to do (re-entry, counted; or everything was switched off meanwhile).
ThreadSlot* settle(ThreadSlot* slot, uint64_t was) noexcept;

// Enters on behalf of control code that takes the registry's lock, so that a signal handler on this thread cannot wait for itself.
class ControlSection {
 public:
  ControlSection() noexcept : slot_(attachThread()), was_(slot_ != nullptr ? slot_->enter() : kBusy) {}
  ~ControlSection() {
    if (slot_ != nullptr) slot_->leave(was_);
  }
  ControlSection(const ControlSection&) = delete;
  ControlSection& operator=(const ControlSection&) = delete;

  ThreadSlot* slot() const noexcept { return slot_; }

 private:
  ThreadSlot* slot_;
  uint64_t was_;
};

// In the child after fork(), under the registry's lock: this thread is the only one, and no recording is its own.
void forgetOtherThreads() noexcept;

}  // namespace xsigma::profiler::instrument
