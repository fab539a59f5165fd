#include "instrument/thread_registry.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "base/arena.h"
#include "base/process_barrier.h"
#include "instrument/fork_guard.h"
#include "instrument/process_state.h"

namespace xsigma::profiler::instrument {
namespace {

ThreadSlot* alwaysBusy(ThreadSlot& slot) {
  slot.armed.store(kBusy, std::memory_order_relaxed);
  return &slot;
}

pthread_key_t exit_key;
pthread_once_t process_once = PTHREAD_ONCE_INIT;

void releaseSlot(void* value) noexcept {
  auto& slot = *static_cast<ThreadSlot*>(value);
  slot.enter();
  {
    const std::lock_guard lock(process.mutex);
    for (uint32_t i = 0; i < kMaxSessions; ++i) {
      capture::Writer& writer = slot.writerOf(i);
      const bool alive = writer.sink() != nullptr && writer.sink() == process.sessions[i].sink &&
                         writer.sinceEpoch() == process.sessions[i].start_epoch;
      alive ? writer.release() : writer.detach();
    }
    const bool had_callbacks = slot.local_callbacks.count != 0;
    process.local_callback_count -= slot.local_callbacks.count;
    slot.local_callbacks.count = 0;
    if (had_callbacks) publishChange();
    slot.fast = false;
    slot.expected.store(kStale, std::memory_order_relaxed);
    slot.recording = 0;
    slot.synced_word = 0;
    slot.innermost = nullptr;
    slot.in_use = false;
  }
  current_slot = &unattached_slot;
}

void prepareProcess() {
  pthread_key_create(&exit_key, releaseSlot);
  watchForks();
}

ThreadSlot* unusedSlot() noexcept {
  for (ThreadSlot* slot = process.slots.load(std::memory_order_relaxed); slot != nullptr; slot = slot->next) {
    if (!slot->in_use) return slot;
  }
  void* const memory = base::allocateForever(sizeof(ThreadSlot), alignof(ThreadSlot));
  if (memory == nullptr) return nullptr;
  auto* const slot = new (memory) ThreadSlot;
  slot->next = process.slots.load(std::memory_order_relaxed);
  process.slots.store(slot, std::memory_order_release);
  return slot;
}

void reset(ThreadSlot& slot) noexcept {
  slot.enabled = true;
  slot.sequence_number = 0;
  slot.logical_id = process.next_thread.fetch_add(1, std::memory_order_relaxed);
  slot.system_id = static_cast<int32_t>(syscall(SYS_gettid));
  slot.name[0] = 0;
  slot.steps.random = slot.logical_id * 0x9E3779B97F4A7C15u ^ static_cast<uint64_t>(base::monotonicNs());
  slot.in_use = true;
}

// Brings the slot in step with the sessions and callbacks of now.
void sync(ThreadSlot& slot) noexcept {
  const std::lock_guard lock(process.mutex);
  const uint64_t word = detail::active_word.load(std::memory_order_relaxed);
  slot.recording = 0;
  slot.ordered = false;
  slot.counter_is_clock = false;
  uint32_t only = 0;
  uint32_t fed = 0;
  for (uint32_t i = 0; i < kMaxSessions; ++i) {
    const Session& session = process.sessions[i];
    capture::Writer& writer = slot.writerOf(i);
    if (writer.sink() != nullptr && (writer.sink() != session.sink || writer.sinceEpoch() != session.start_epoch)) writer.detach();
    if (session.sink == nullptr || session.by_hand) continue;
    if (writer.sink() == nullptr) attachWriter(slot, i);
    slot.recording = static_cast<uint8_t>(slot.recording | 1u << i);
    slot.ordered |= session.sink->orderedEnd();
    slot.counter_is_clock |= session.sink->counterIsClock();
    only = i;
    ++fed;
  }
  slot.steps.rebuild(process.global_callbacks, slot.local_callbacks);
  slot.fence = !base::processBarrierAvailable();
  const bool plain = fed == 1 && slot.steps.scopes == 0 && slot.enabled && !slot.ordered && !slot.counter_is_clock && !slot.fence;
  slot.fast = plain;
  if (plain) slot.putFirst(only);
  slot.synced_word = word;
  slot.expected.store(plain ? slot.epochHigh() : kStale, std::memory_order_relaxed);
}

}  // namespace

void ThreadSlot::putFirst(uint32_t session) noexcept {
  if (place[session] == 0) return;
  const auto first = static_cast<uint32_t>(std::find(std::begin(place), std::end(place), 0) - std::begin(place));
  writers[0].swapWith(writers[place[session]]);
  std::swap(place[first], place[session]);
}

constinit ThreadSlot unattached_slot;
constinit thread_local ThreadSlot* current_slot = &unattached_slot;

namespace {
// Stands in while the slot of a thread is being made. Re-entry by a signal then finds it busy.
constinit ThreadSlot attaching_slot;
}  // namespace

ThreadSlot* attachThread() noexcept {
  ThreadSlot* slot = current_slot;
  if (slot == &attaching_slot) {
    process.unattached_drops.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  if (slot != &unattached_slot) return slot;
  current_slot = alwaysBusy(attaching_slot);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  pthread_once(&process_once, prepareProcess);
  {
    const std::lock_guard lock(process.mutex);
    slot = unusedSlot();
    if (slot != nullptr) reset(*slot);
  }
  if (slot != nullptr) {
    pthread_setspecific(exit_key, slot);
    slot->leave(kNotFast);
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  current_slot = slot != nullptr ? slot : &unattached_slot;
  return slot;
}

ThreadSlot* settle(ThreadSlot* slot, uint64_t was) noexcept {
  if (slot == &unattached_slot || slot == &attaching_slot) {
    slot = attachThread();
    if (slot == nullptr) return nullptr;
    was = slot->enter();
  }
  if (was == kBusy) {
    for (capture::Writer& writer : slot->writers) {
      if (writer.sink() != nullptr) writer.noteReentrant();
    }
    return nullptr;
  }
  if (slot->fence) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint64_t word = detail::active_word.load(std::memory_order_relaxed);
  if ((word & kFollowForkBit) != 0) [[unlikely]] {
    slot->leave(kNotFast);
    process.follow_fork();
    slot->enter();
    word = detail::active_word.load(std::memory_order_relaxed);
  }
  if (word == 0) {
    slot->leave(kNotFast);
    return nullptr;
  }
  if (slot->synced_word != word) [[unlikely]] sync(*slot);
  return slot;
}

void forgetOtherThreads() noexcept {
  for (ThreadSlot* slot = process.slots.load(std::memory_order_relaxed); slot != nullptr; slot = slot->next) {
    for (capture::Writer& writer : slot->writers) writer.detach();
    slot->fast = false;
    slot->expected.store(kStale, std::memory_order_relaxed);
    slot->recording = 0;
    slot->synced_word = 0;
    if (slot == current_slot) {
      slot->system_id = static_cast<int32_t>(syscall(SYS_gettid));
      continue;
    }
    if (slot->in_use) process.local_callback_count -= slot->local_callbacks.count;
    slot->local_callbacks.count = 0;
    slot->running.store(nullptr, std::memory_order_relaxed);
    slot->removing.store(false, std::memory_order_relaxed);
    slot->armed.store(kNotFast, std::memory_order_relaxed);
    slot->in_use = false;
  }
}

}  // namespace xsigma::profiler::instrument
