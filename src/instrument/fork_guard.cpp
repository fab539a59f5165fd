#include "instrument/fork_guard.h"

#include <pthread.h>

#include "instrument/process_state.h"
#include "instrument/thread_registry.h"

namespace xsigma::profiler::instrument {
namespace {

// Valid between prepare and parent/child: fork() runs those on one thread, under the lock.
uint64_t slot_was = kNotFast;

// A fork from a signal handler that interrupted the profiler finds the slot busy: this thread may hold the lock itself.
bool interruptedUs() noexcept { return slot_was == kBusy; }

void prepare() {
  ThreadSlot* const slot = attachThread();
  slot_was = slot != nullptr ? slot->enter() : kBusy;
  if (!interruptedUs()) process.mutex.lock();
}

void leave(uint64_t value) noexcept {
  if (interruptedUs()) return;
  process.mutex.unlock();
  current_slot->leave(value);
}

void parent() { leave(slot_was); }

void child() {
  for (Session& session : process.sessions) {
    process.follow_fork_pending |= session.follow_fork;
    session = {};
  }
  process.retired_sinks = nullptr;
  forgetOtherThreads();
  publishChange();
  leave(kNotFast);
}

}  // namespace

void watchForks() noexcept { pthread_atfork(prepare, parent, child); }

}  // namespace xsigma::profiler::instrument
