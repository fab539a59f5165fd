// Scopes that user callbacks watch: a RecordFunction stands behind the macro, in a frame of the thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>

#include "instrument/record_function_state.h"
#include "instrument/scope_entry.h"
#include "instrument/thread_slot.h"
#include "xsigma/profiler/scope.h"

namespace xsigma::profiler::instrument {

// Memory for one RecordFunction. Never freed; a frame that rests is in the list of a thread.
struct ObservedFrame {
  static constexpr uint64_t kNone = 0;

  // The `way` of the slot that the frame is ready for: its RecordFunction is active, and all that is left to fill in is what one scope has
  // of its own.
  uint64_t ready_for = kNone;
  ObservedFrame* next = nullptr;
  alignas(RecordFunction) unsigned char bytes[sizeof(RecordFunction)] = {};

  RecordFunction& function() noexcept { return *reinterpret_cast<RecordFunction*>(bytes); }
  RecordFunctionState& state() noexcept { return RecordFunctionState::of(function()); }
  detail::ScopeToken token() noexcept { return {reinterpret_cast<uint64_t>(this), kGeneralEnd}; }
};

// The slot is busy and settled; it has been left on return.
detail::ScopeToken beginObserved(ThreadSlot& slot, const char* name, uint32_t head, RecordScope scope) noexcept;
void endObserved(uint64_t frame) noexcept;

// The part of the lean way that is not: records the begin after a change. The gate is busy.
void beginRecordLate(ObservedFrame& frame) noexcept;

// The lean way: one recording, one callback that sees every range. `frame` is the first of the slot's list and ready for `was`; the gate is
// busy. False, and nothing done, if something has changed since. What is at hand elsewhere is not kept over the call: that would cost registers.
__attribute__((always_inline)) inline bool beginLean(ThreadSlot& slot, ObservedFrame& frame, const char* name, uint32_t head,
                                                     RecordScope scope, uint64_t was) noexcept {
  RecordFunctionState& state = frame.state();
  RecordFunctionState::Observer& observer = *state.inlineObservers();
  const uint64_t expected = was - kGeneral;
  slot.running.store(observer.entry, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!gate.isInStep(expected)) [[unlikely]] {
    slot.running.store(nullptr, std::memory_order_release);
    return false;
  }
  slot.free_frames = frame.next;
  gate.leave(was);
  state.name = name;
  state.head = head;
  state.handle = 0;
  RecordFunctionState::setScope(frame.function(), scope);
  try {
    new (&observer.context) std::unique_ptr<ObserverContext>(observer.start(frame.function()));
  } catch (...) {
    new (&observer.context) std::unique_ptr<ObserverContext>;
    reportCallbackException(*observer.entry, "start", state.name);
  }
  gate.slot->running.store(nullptr, std::memory_order_release);
  gate.enter();
  if (gate.isInStep(expected)) [[likely]] {
    state.handle = gate.first.nextId();
    if (gate.first.tryBegin(state.head, state.begin_ticks)) [[likely]] {
      gate.leave(frame.ready_for);
      return true;
    }
  }
  beginRecordLate(frame);
  return true;
}

}  // namespace xsigma::profiler::instrument
