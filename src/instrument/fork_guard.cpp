#include "instrument/fork_guard.h"

#include <pthread.h>

#include "instrument/process_state.h"
#include "instrument/thread_registry.h"

namespace xsigma::profiler::instrument {
namespace {

// From prepare to parent or child, which run on the same thread. Several threads may be in fork() at once.
constinit thread_local uint64_t gate_was = kNotFast;

// A fork from a signal handler that interrupted the profiler finds the gate busy: this thread may hold the lock itself.
bool interruptedUs() noexcept { return gate_was == kBusy; }

void prepare() {
  attachThread();
  gate_was = gate.enter();
  if (!interruptedUs()) process.mutex.lock();
}

void leave(uint64_t value) noexcept {
  if (interruptedUs()) return;
  process.mutex.unlock();
  gate.leave(value);
}

void parent() { leave(gate_was); }

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
