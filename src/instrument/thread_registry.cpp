#include "instrument/thread_registry.h"

#include <limits.h>
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

pthread_key_t exit_key;
pthread_once_t process_once = PTHREAD_ONCE_INIT;

// The thread ends, and its callbacks with it. Ranges that are still open elsewhere see that by the handle.
void dropLocalCallbacks(ThreadSlot& slot) noexcept {
  CallbackList& list = slot.local_callbacks;
  for (uint32_t i = 0; i < list.count; ++i) {
    list.entries[i]->handle.store(INVALID_CALLBACK_HANDLE, std::memory_order_seq_cst);
    list.entries[i]->next_free = process.free_entries;
    process.free_entries = list.entries[i];
  }
  process.local_callback_count -= list.count;
  list.count = 0;
  publishChange();
}

void releaseSlot(void* value) noexcept {
  auto& slot = *static_cast<ThreadSlot*>(value);
  gate.enter();
  {
    const std::lock_guard lock(process.mutex);
    for (uint32_t i = 0; i < kMaxSessions; ++i) {
      capture::Writer& writer = slot.writerOf(i);
      const bool alive = writer.sink() != nullptr && writer.sink() == process.sessions[i].sink &&
                         writer.sinceEpoch() == process.sessions[i].start_epoch;
      alive ? writer.release() : writer.detach();
    }
    for (base::PerfCounters& counters : slot.perf) counters.close();
    std::fill(std::begin(slot.joined), std::end(slot.joined), 0);
    std::fill(std::begin(slot.left), std::end(slot.left), false);
    if (slot.local_callbacks.count != 0) dropLocalCallbacks(slot);
    slot.way = kNotFast;
    slot.recording = 0;
    slot.synced_word = 0;
    slot.innermost = nullptr;
    slot.own_gate = nullptr;
    gate.expected.store(kStale, std::memory_order_relaxed);
    gate.slot = nullptr;
    gate.recent_name = &no_name;
    ++gate.releases;
  }
  gate.leave(kNotFast);
}

void prepareProcess() {
  pthread_key_create(&exit_key, releaseSlot);
  watchForks();
}

ThreadSlot* unusedSlot() noexcept {
  for (ThreadSlot* slot = process.slots.load(std::memory_order_relaxed); slot != nullptr; slot = slot->next) {
    if (slot->own_gate == nullptr) return slot;
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
  slot.own_gate = &gate;
}

// A number above the flags of `way`. What bears it was made by one thread after one change.
uint32_t nextLeanWay() noexcept { return process.lean_ways += 2 * kGeneral; }

// Brings the slot in step with the sessions and callbacks of now.
void sync(ThreadSlot& slot) noexcept {
  const std::lock_guard lock(process.mutex);
  const uint64_t word = detail::active_word.load(std::memory_order_relaxed);
  slot.recording = 0;
  slot.ordered = false;
  slot.records_inputs = false;
  slot.counter_is_clock = false;
  slot.memory = 0;
  slot.stacks = 0;
  slot.counted = 0;
  slot.detailed = false;
  uint32_t only = 0;
  uint32_t fed = 0;
  for (uint32_t i = 0; i < kMaxSessions; ++i) {
    const Session& session = process.sessions[i];
    capture::Writer& writer = slot.writerOf(i);
    if (writer.sink() != nullptr && (writer.sink() != session.sink || writer.sinceEpoch() != session.start_epoch)) {
      writer.detach();
      slot.perf[i].close();  // the next session counts what it was asked to
    }
    const bool feeds = session.sink != nullptr && !session.by_hand && (!session.joined_only || slot.joined[i] == session.start_epoch);
    if (slot.perf[i].isOpen() && !feeds) slot.perf[i].close();
    if (!feeds) continue;
    if (writer.sink() == nullptr) attachWriter(slot, i);
    if (session.perf.count != 0 && !slot.perf[i].isOpen()) slot.perf[i].open(session.perf);
    slot.scopes[i] = session.joined_only && slot.left[i] ? 0 : session.collected_scopes;
    slot.memory = static_cast<uint8_t>(slot.memory | (session.memory && slot.scopes[i] != 0) << i);
    slot.stacks = static_cast<uint8_t>(slot.stacks | session.stacks << i);
    slot.counted = static_cast<uint8_t>(slot.counted | slot.perf[i].isOpen() << i);
    slot.detailed |= slot.scopes[i] != kAllScopes || session.stacks || slot.perf[i].isOpen();
    slot.recording = static_cast<uint8_t>(slot.recording | 1u << i);
    slot.ordered |= session.sink->orderedEnd();
    slot.records_inputs |= session.sink->recordsInputs();
    slot.counter_is_clock |= session.sink->counterIsClock();
    only = i;
    ++fed;
  }
  slot.steps.rebuild(process.global_callbacks, slot.local_callbacks);
  slot.fence = !base::processBarrierAvailable();
  slot.single = fed == 1 && !slot.ordered && !slot.counter_is_clock && !slot.detailed;
  slot.single_session = static_cast<uint8_t>(only);
  if (slot.single) slot.putFirst(only);
  const bool quick = slot.single && slot.enabled && !slot.fence;
  const bool plain = quick && slot.steps.scopes == 0;
  slot.lean = quick && slot.steps.onlyOne();
  slot.synced_word = word;
  const uint64_t expected = slot.epochHigh() + (slot.lean ? nextLeanWay() : 0);
  slot.way = slot.fence || word == 0 ? kNotFast : expected + (plain ? 0 : kGeneral);
  slot.own_gate->expected.store(slot.fence ? kStale : expected, std::memory_order_relaxed);
}

}  // namespace

constinit thread_local ThreadGate gate;

void ThreadSlot::putFirst(uint32_t session) noexcept {
  if (place[session] == 0) return;
  const auto first = static_cast<uint32_t>(std::find(std::begin(place), std::end(place), 0) - std::begin(place));
  own_gate->first.swapWith(others[place[session] - 1]);
  std::swap(place[first], place[session]);
}

namespace {

// The gate is busy all the while: whoever comes in by a signal sees it, and that there is no slot yet.
bool attach() noexcept {
  // The system calls destructors of thread-specific data that often; a slot taken after the last call would never come back.
  if (gate.releases >= PTHREAD_DESTRUCTOR_ITERATIONS - 1) {
    process.unattached_drops.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  pthread_once(&process_once, prepareProcess);
  {
    const std::lock_guard lock(process.mutex);
    ThreadSlot* const slot = unusedSlot();
    if (slot == nullptr) return false;
    reset(*slot);
    gate.slot = slot;
  }
  pthread_setspecific(exit_key, gate.slot);
  return true;
}

}  // namespace

ThreadSlot* attachThread() noexcept {
  if (gate.slot != nullptr) return gate.slot;
  const uint64_t was = gate.enter();
  if (was == kBusy) return nullptr;
  attach();
  gate.leave(kNotFast);
  return gate.slot;
}

ThreadSlot* settleSlow(uint64_t was, bool scope) noexcept {
  ThreadSlot* slot = gate.slot;
  if (was == kBusy) {
    // Not attached yet, or not to all that runs now: every running capture counts it.
    if (slot == nullptr || slot->synced_word != detail::active_word.load(std::memory_order_relaxed)) {
      if (scope) process.unattached_drops.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    for (uint32_t i = 0; i < kMaxSessions; ++i) {
      if ((slot->recording >> i & 1) != 0) slot->writerOf(i).noteReentrant(scope);
    }
    return nullptr;
  }
  if (slot == nullptr) {
    if (!attach()) {
      gate.leave(kNotFast);
      return nullptr;
    }
    slot = gate.slot;
  }
  if (slot->fence) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint64_t word = detail::active_word.load(std::memory_order_relaxed);
  if ((word & kFollowForkBit) != 0) [[unlikely]] {
    gate.leave(kNotFast);
    process.follow_fork();
    gate.enter();
    word = detail::active_word.load(std::memory_order_relaxed);
  }
  if (word == 0) {
    gate.leave(kNotFast);
    return nullptr;
  }
  if (slot->synced_word != word) [[unlikely]] sync(*slot);
  return slot;
}

void forgetOtherThreads() noexcept {
  for (ThreadSlot* slot = process.slots.load(std::memory_order_relaxed); slot != nullptr; slot = slot->next) {
    if (slot->own_gate == nullptr) continue;
    slot->way = kNotFast;
    slot->recording = 0;
    slot->synced_word = 0;
    for (capture::Writer& writer : slot->others) writer.detach();
    for (base::PerfCounters& counters : slot->perf) counters.close();  // they count the parent's thread
    if (slot == gate.slot) {
      gate.first.detach();
      gate.expected.store(kStale, std::memory_order_relaxed);
      slot->system_id = static_cast<int32_t>(syscall(SYS_gettid));
      continue;
    }
    process.local_callback_count -= slot->local_callbacks.count;
    slot->local_callbacks.count = 0;
    slot->running.store(nullptr, std::memory_order_relaxed);
    slot->removing.store(false, std::memory_order_relaxed);
    slot->own_gate = nullptr;  // the memory of that thread is anybody's now
  }
}

}  // namespace xsigma::profiler::instrument
