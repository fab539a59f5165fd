#include "instrument/record_function_state.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "base/log.h"
#include "instrument/begin_extras.h"
#include "capture/mark_codec.h"
#include "instrument/process_state.h"
#include "instrument/scope_entry.h"
#include "instrument/thread_registry.h"

namespace xsigma::profiler {

using namespace instrument;

namespace {

constexpr uint32_t kIdBlock = 256;

uint64_t drawId(ThreadSlot& slot) noexcept {
  if (slot.next_id == slot.id_limit) {
    slot.next_id = process.next_id.fetch_add(kIdBlock, std::memory_order_relaxed);
    slot.id_limit = slot.next_id + kIdBlock;
  }
  return slot.next_id++;
}

// Marks the thread as being inside a callback, so that removeCallback can wait for it.
class RunningCallback {
 public:
  RunningCallback(ThreadSlot& slot, CallbackEntry* entry) noexcept : slot_(slot) {
    slot_.running.store(entry, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (slot_.fence) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  }
  ~RunningCallback() { slot_.running.store(nullptr, std::memory_order_release); }

 private:
  ThreadSlot& slot_;
};

// Calls into user code; nothing thrown there goes any further.
template <typename Call>
void guarded(RecordFunctionState::Observer& observer, const char* when, const char* range, Call call) noexcept {
  ThreadSlot* const slot = gate.slot != nullptr ? gate.slot : attachThread();  // an async range may end on a thread that is new to us
  if (slot == nullptr || slot->running.load(std::memory_order_relaxed) != nullptr) return;
  const RunningCallback running(*slot, observer.entry);
  if (observer.entry->handle.load(std::memory_order_acquire) != observer.handle) return;
  try {
    call();
  } catch (...) {
    reportCallbackException(*observer.entry, when, range);
  }
}

}  // namespace

__attribute__((cold)) void instrument::reportCallbackException(CallbackEntry& entry, const char* when, const char* range) noexcept {
  if (entry.complained.exchange(true, std::memory_order_relaxed)) return;
  const auto complain = [&](const char* what) {
    base::warn(fmt::format("a {} callback threw at '{}': {}. The range goes on; further exceptions of this callback are not reported",
                           when, range, what));
  };
  try {
    throw;
  } catch (const std::exception& error) {
    complain(error.what());
  } catch (...) {
    complain("something that is no std::exception");
  }
}

bool RecordFunctionState::create(RecordFunction& function, ThreadSlot& slot) noexcept {
  const bool observed = slot.steps.wants(function.scope_) && slot.running.load(std::memory_order_relaxed) == nullptr;
  if (!observed && slot.recording == 0) return false;
  auto& state = *new (function.state_) RecordFunctionState;
  state.thread_id = slot.logical_id;
  state.needs_inputs = state.needs_outputs = slot.records_inputs;
  if (!observed) return true;
  state.pickObservers(slot, function.scope_);
  if (state.observer_count != 0 || slot.recording != 0) return true;
  state.~RecordFunctionState();
  return false;
}

RecordFunction* RecordFunctionState::createObserved(void* memory, RecordScope scope, ThreadSlot& slot) noexcept {
  auto* const function = new (memory) RecordFunction(scope, RecordFunction::Dormant());
  function->active_ = create(*function, slot);
  return function;
}

void RecordFunctionState::destroyObserved(RecordFunction& function) noexcept {
  if (!function.active_) return;
  RecordFunctionState& state = of(function);
  state.end(function);
  function.active_ = false;
  state.~RecordFunctionState();
}

void RecordFunctionState::pickObservers(ThreadSlot& slot, RecordScope scope) noexcept {
  for (uint32_t i = 0; i < slot.steps.count; ++i) {
    CallbackStep& step = slot.steps.steps[i];
    if (!slot.steps.due(step, scope)) continue;
    needs_inputs |= step.needs_inputs;
    needs_outputs |= step.needs_outputs;
    needs_ids |= step.needs_ids;
    Observer observer{step.entry, step.handle, step.start, step.end, nullptr};
    if (observer_count < kInlineObservers) {
      new (&inlineObservers()[observer_count]) Observer(std::move(observer));
    } else {
      try {
        if (more_observers == nullptr) more_observers = std::make_unique<std::vector<Observer>>();
        more_observers->push_back(std::move(observer));
      } catch (const std::bad_alloc&) {
        return;
      }
    }
    ++observer_count;
  }
}

void RecordFunctionState::begin(RecordFunction& function, ThreadSlot& slot, const char* interned_name, uint32_t begin_head) noexcept {
  name = interned_name;
  head = begin_head;
  begun = true;
  if (needs_ids && handle == 0) handle = drawId(slot);
  details.id = handle;
  if (observer_count == 0) return recordBegin(slot, function.scope_);
  slot.leave();
  runStartCallbacks(function);
  if (ThreadSlot* const again = enterSettled()) recordBegin(*again, function.scope_);
}

void RecordFunctionState::runStartCallbacks(RecordFunction& function) noexcept {
  for (uint32_t i = 0; i < observer_count; ++i) {
    Observer& each = observer(i);
    if (each.start != nullptr) guarded(each, "start", name, [&] { each.context = each.start(function); });
  }
}

// Details first, the begin last, one commit for all.
__attribute__((always_inline)) inline void RecordFunctionState::putBegin(capture::Writer& writer, uint32_t index, const BeginExtras* extras) noexcept {
  const bool detailed = details.any();
  const bool inputs = writer.sink()->recordsInputs();
  const uint32_t room = writer.sink()->maxRecordWords() - BeginExtras::kMostWords;
  const uint32_t most = (detailed ? capture::mostDetailWords(details, inputs, room) : 0) + (extras != nullptr ? BeginExtras::kMostWords : 0);
  if (!writer.ensure(most + capture::kBeginWords, begin_ticks)) {
    writer.countDrop(writer.why());
    dropped = static_cast<uint8_t>(dropped | 1u << index);
    return;
  }
  uint32_t* const at = writer.next();
  uint32_t words = detailed ? capture::putDetails(details, inputs, room, writer.delta(begin_ticks), at) : 0;
  if (extras != nullptr) words += extras->put(writer, index, writer.delta(begin_ticks), at + words);
  at[words] = head;
  at[words + 1] = writer.delta(begin_ticks);
  ids[index] = details.id != 0 ? details.id : writer.nextId();
  if (handle == 0) handle = ids[index];
  writer.commit(words + capture::kBeginWords, 1);
}

// For recordings that do not want all of it, or more.
__attribute__((noinline)) void RecordFunctionState::recordDetailed(ThreadSlot& slot, RecordScope scope) noexcept {
  const BeginExtras extras(slot);
  begin_ticks = slot.beginTicks();
  forEachRecording(slot, [&](capture::Writer& writer, uint32_t index) {
    if (slot.collects(index, scope)) {
      putBegin(writer, index, &extras);
    } else {
      dropped = static_cast<uint8_t>(dropped | 1u << index);
    }
  });
}

void RecordFunctionState::recordBegin(ThreadSlot& slot, RecordScope scope) noexcept {
  recorded = slot.recording != 0 && head != 0;
  if (recorded) {
    begin_epoch = epochOf(slot.synced_word);
    const bool detailed = details.any();
    if (slot.single && !detailed) {
      const uint64_t id = gate.first.nextId();
      if (gate.first.tryBegin(head, begin_ticks)) {
        ids[slot.single_session] = id;
        if (handle == 0) handle = id;
        return slot.leave();
      }
    }
    begin_ticks = slot.beginTicks();
    if (slot.detailed) [[unlikely]] {
      recordDetailed(slot, scope);
    } else {
      forEachRecording(slot, [&](capture::Writer& writer, uint32_t index) { putBegin(writer, index, nullptr); });
    }
    recorded = dropped != slot.recording;
  }
  slot.leave();
}

void RecordFunctionState::end(RecordFunction& function) noexcept {
  if (!begun) return;
  begun = false;
  if (recorded) recordEnd();
  for (uint32_t i = 0; i < observer_count; ++i) {
    Observer& each = observer(i);
    if (each.end != nullptr) guarded(each, "end", name, [&] { each.end(function, each.context.get()); });
    each.context.reset();
  }
}

void RecordFunctionState::recordEnd() noexcept {
  ThreadSlot* const slot = enterSettled(false);
  if (slot == nullptr) return;
  const uint64_t ticks = slot->endTicks();
  const uint32_t site = capture::headSite(head);
  const bool here = slot->logical_id == thread_id && !details.async;
  if (here && slot->single && begin_epoch == epochOf(slot->synced_word) &&
      gate.first.tryEnd(head + kBeginToEnd, begin_ticks, base::halvesOf(ticks))) {
    return slot->leave();
  }
  if (here) {
    endInWriters(*slot, site, begin_epoch, dropped, begin_ticks, ticks);
  } else {
    forEachRecording(*slot, [&](capture::Writer& writer, uint32_t index) {
      if (writer.sinceEpoch() <= begin_epoch && (dropped >> index & 1) == 0) capture::putAsyncEnd(writer, ticks, site, ids[index], begin_ticks);
    });
  }
  slot->leave();
}

}  // namespace xsigma::profiler
