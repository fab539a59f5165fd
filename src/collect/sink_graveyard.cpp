#include "collect/sink_graveyard.h"

#include "base/process_barrier.h"
#include "instrument/process_state.h"
#include "instrument/thread_registry.h"

namespace xsigma::profiler::collect {

using namespace instrument;

namespace {

bool someoneInside(const capture::Sink* sink, const ThreadSlot* own) noexcept {
  for (ThreadSlot* slot = process.slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    if (slot == own || slot->own_gate == nullptr || slot->own_gate->armed.load(std::memory_order_acquire) != kBusy) continue;
    for (uint32_t i = 0; i < kMaxSessions; ++i) {
      if (slot->writerOf(i).sink() == sink) return true;
    }
  }
  return false;
}

// Splits off those that can go; deletes them without the lock.
void bury(capture::Sink* sink) {
  capture::Sink* free = nullptr;
  {
    const ControlSection section;
    const std::lock_guard lock(process.mutex);
    sink->next_retired = process.retired_sinks;
    process.retired_sinks = sink;
    base::processBarrier();
    for (capture::Sink** link = &process.retired_sinks; *link != nullptr;) {
      capture::Sink* const each = *link;
      if (someoneInside(each, section.slot())) {
        link = &each->next_retired;
      } else {
        *link = each->next_retired;
        each->next_retired = free;
        free = each;
      }
    }
  }
  while (free != nullptr) {
    capture::Sink* const next = free->next_retired;
    delete free;
    free = next;
  }
}

}  // namespace

std::shared_ptr<capture::Sink> buriedWhenUnused(std::unique_ptr<capture::Sink> sink) { return {sink.release(), bury}; }

}  // namespace xsigma::profiler::collect
