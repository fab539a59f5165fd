// Threads come, go and catch up with changes.
#pragma once

#include "instrument/thread_slot.h"

namespace xsigma::profiler::instrument {

// The calling thread's slot, made if need be; null if there is no memory, or if a signal arrived while it was being made.
ThreadSlot* attachThread() noexcept;

// For whoever has just entered the gate and found `was`: the slot in step with the active word, the gate still busy; or null, already left, when
// there is nothing to do (re-entry, counted as a scope or as something beside one; or everything was switched off meanwhile).
ThreadSlot* settleSlow(uint64_t was, bool scope) noexcept;
inline ThreadSlot* settle(uint64_t was, bool scope = true) noexcept {
  if ((was | kGeneral) == (gate.expected.load(std::memory_order_relaxed) | kGeneral)) [[likely]] return gate.slot;
  return settleSlow(was, scope);
}
inline ThreadSlot* enterSettled(bool scope = true) noexcept { return settle(gate.enter(), scope); }

// Enters on behalf of control code that takes the registry's lock, so that a signal handler on this thread cannot wait for itself.
class ControlSection {
 public:
  ControlSection() noexcept : slot_(attachThread()), was_(gate.enter()) {}
  ~ControlSection() { gate.leave(was_); }
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
