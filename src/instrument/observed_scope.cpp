#include "instrument/observed_scope.h"

#include <algorithm>
#include <mutex>

#include "base/arena.h"
#include "instrument/process_state.h"
#include "instrument/thread_registry.h"

namespace xsigma::profiler::instrument {

constinit ObservedFrame no_frame;

namespace {

std::unique_ptr<ObserverContext> noStart(const RecordFunction&) { return nullptr; }
void noEnd(const RecordFunction&, ObserverContext*) {}

void put(ThreadSlot& slot, ObservedFrame& frame) noexcept {
  frame.next = slot.free_frames;
  slot.free_frames = &frame;
}

// The first of the list, with nothing alive in it; null if there is no memory.
ObservedFrame* firstFrame(ThreadSlot& slot) noexcept {
  if (slot.free_frames == &no_frame) {
    const std::lock_guard lock(process.mutex);
    void* const memory = base::allocateForever(sizeof(ObservedFrame), alignof(ObservedFrame));
    if (memory == nullptr) return nullptr;
    put(slot, *new (memory) ObservedFrame);
  }
  ObservedFrame* const frame = slot.free_frames;
  if (frame->ready_for != ObservedFrame::kNone) frame->state().~RecordFunctionState();
  frame->ready_for = ObservedFrame::kNone;
  return frame;
}

void makeReady(ObservedFrame& frame, RecordScope scope, ThreadSlot& slot) noexcept {
  RecordFunctionState::createObserved(frame.bytes, scope, slot);
  RecordFunctionState& state = frame.state();
  RecordFunctionState::Observer& observer = *state.inlineObservers();
  if (observer.start == nullptr) observer.start = noStart;
  if (observer.end == nullptr) observer.end = noEnd;
  state.begin_epoch = epochOf(slot.synced_word);
  state.begun = state.recorded = true;
  frame.ready_for = slot.way;
}

__attribute__((noinline)) void endGeneral(ObservedFrame& frame) noexcept {
  RecordFunctionState& state = frame.state();
  if (frame.ready_for != ObservedFrame::kNone) std::fill(std::begin(state.ids), std::end(state.ids), state.handle);
  frame.ready_for = ObservedFrame::kNone;
  RecordFunctionState::destroyObserved(frame.function());
  if (gate.slot != nullptr) put(*gate.slot, frame);
}

}  // namespace

detail::ScopeToken beginObserved(ThreadSlot& slot, const char* name, uint32_t head, RecordScope scope) noexcept {
  ObservedFrame* const frame = firstFrame(slot);
  if (frame == nullptr) {
    slot.leave();
    return {};
  }
  if (slot.lean) {
    makeReady(*frame, scope, slot);
    if (beginLean(slot, *frame, name, head, scope, slot.way)) return frame->token();
    firstFrame(slot);
  }
  slot.free_frames = frame->next;
  RecordFunction& function = *RecordFunctionState::createObserved(frame->bytes, scope, slot);
  function.isActive() ? frame->state().begin(function, slot, name, head) : slot.leave();
  return frame->token();
}

__attribute__((cold)) void beginRecordLate(ObservedFrame& frame) noexcept {
  RecordFunctionState& state = frame.state();
  frame.ready_for = ObservedFrame::kNone;
  state.handle = 0;
  state.recorded = false;
  if (ThreadSlot* const slot = settle(kNotFast)) state.recordBegin(*slot, frame.function().scope());
}

void endObserved(uint64_t address) noexcept {
  ObservedFrame& frame = *reinterpret_cast<ObservedFrame*>(address);
  const uint64_t was = gate.enter();
  if (was != frame.ready_for || gate.slot->running.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
    gate.leave(was);
    return endGeneral(frame);
  }
  ThreadSlot& slot = *gate.slot;
  RecordFunctionState& state = frame.state();
  RecordFunctionState::Observer& observer = *state.inlineObservers();
  slot.running.store(observer.entry, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!gate.isInStep(was - kGeneral) ||
      !gate.first.tryEnd(state.head + kBeginToEnd, state.begin_ticks, base::readTickHalves())) [[unlikely]] {
    slot.running.store(nullptr, std::memory_order_release);
    gate.leave(was);
    return endGeneral(frame);
  }
  gate.leave(was);
  try {
    observer.end(frame.function(), observer.context.get());
  } catch (...) {
    reportCallbackException(*observer.entry, "end", state.name);
  }
  if (observer.context != nullptr) [[unlikely]] {
    slot.running.store(nullptr, std::memory_order_release);
    observer.context.reset();
    return put(slot, frame);
  }
  put(slot, frame);  // while `running` still keeps signal handlers away from the list
  slot.running.store(nullptr, std::memory_order_release);
}

}  // namespace xsigma::profiler::instrument
