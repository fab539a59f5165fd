#include "xsigma/profiler/callbacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "base/arena.h"
#include "base/log.h"
#include "base/process_barrier.h"
#include "instrument/process_state.h"
#include "instrument/thread_registry.h"

namespace xsigma::profiler {

using namespace instrument;

ObserverContext::~ObserverContext() = default;

RecordFunctionCallback::RecordFunctionCallback(StartCallback on_start, EndCallback on_end) : start_(on_start), end_(on_end) { scopes_.fill(true); }

RecordFunctionCallback& RecordFunctionCallback::samplingProb(double probability) {
  if (!(probability >= 0.0 && probability <= 1.0)) {
    throw ProfilerError(fmt::format("Invalid sampling probability {}: it must lie between 0 and 1", probability));
  }
  sampling_prob_ = probability;
  return *this;
}

RecordFunctionCallback& RecordFunctionCallback::scopes(const std::unordered_set<RecordScope>& wanted) {
  scopes_.fill(wanted.empty());
  for (const RecordScope scope : wanted) scopes_.at(static_cast<size_t>(scope)) = true;
  return *this;
}

namespace {

// Under the registry's lock.
CallbackEntry* newEntry(const RecordFunctionCallback& callback, CallbackHandle handle = INVALID_CALLBACK_HANDLE) {
  CallbackEntry* entry = process.free_entries;
  if (entry != nullptr) {  // ranges that its last callback was cut from may still look at the handle: no new object in its place
    process.free_entries = entry->next_free;
    entry->callback = callback;
    entry->enabled = true;
    entry->complained.store(false, std::memory_order_relaxed);
  } else {
    void* const memory = base::allocateForever(sizeof(CallbackEntry), alignof(CallbackEntry));
    if (memory == nullptr) throw std::bad_alloc();
    entry = new (memory) CallbackEntry(callback);
  }
  entry->handle.store(handle != INVALID_CALLBACK_HANDLE ? handle : process.next_handle++, std::memory_order_release);
  return entry;
}

CallbackHandle addLocal(ThreadSlot& slot, const RecordFunctionCallbacksEntry& given) {
  const std::lock_guard lock(process.mutex);
  CallbackEntry* const entry = newEntry(given.callback, given.handle);
  entry->enabled = given.enabled;
  if (!slot.local_callbacks.add(entry)) throw std::bad_alloc();
  ++process.local_callback_count;
  publishChange();
  return entry->handle.load(std::memory_order_relaxed);
}

// The list that holds the handle and its place there: this thread's first, then the global one. Under the registry's lock.
std::pair<CallbackList*, uint32_t> find(ThreadSlot* slot, CallbackHandle handle) noexcept {
  if (handle == INVALID_CALLBACK_HANDLE) return {nullptr, 0};
  for (CallbackList* const list : {slot != nullptr ? &slot->local_callbacks : nullptr, &process.global_callbacks}) {
    if (list == nullptr) continue;
    const uint32_t index = list->find(handle);
    if (index != list->count) return {list, index};
  }
  return {nullptr, 0};
}

void warnUnknown(const char* call, CallbackHandle handle) {
  base::warn(fmt::format("{}({}): Requested callback is not found. It was removed before, or belongs to another thread", call, handle));
}

// False if there is no such callback.
bool setEnabled(CallbackHandle handle, bool enabled) {
  const ControlSection section;
  const std::lock_guard lock(process.mutex);
  const auto [list, index] = find(section.slot(), handle);
  if (list == nullptr) return false;
  list->entries[index]->enabled = enabled;
  publishChange();
  return true;
}

// Waits until no thread is inside the callback any more. From inside a callback, a thread that itself waits here for another one is not waited
// for: two callbacks may remove each other. True if nobody was left inside.
bool waitUntilNobodyRuns(const CallbackEntry* entry) noexcept {
  base::processBarrier();
  ThreadSlot* const own = attachThread();
  if (own == nullptr) return false;
  own->removing.store(true, std::memory_order_seq_cst);
  const CallbackEntry* const inside = own->running.load(std::memory_order_relaxed);
  bool nobody = inside != entry;
  for (ThreadSlot* slot = process.slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    if (slot == own) continue;
    while (slot->running.load(std::memory_order_acquire) == entry) {
      if (inside != nullptr && slot->removing.load(std::memory_order_seq_cst)) {
        nobody = false;
        break;
      }
      std::this_thread::yield();
    }
  }
  own->removing.store(false, std::memory_order_seq_cst);
  return nobody;
}

void retire(CallbackEntry* entry) noexcept {
  if (!waitUntilNobodyRuns(entry)) return;
  const ControlSection section;
  const std::lock_guard lock(process.mutex);
  entry->next_free = process.free_entries;
  process.free_entries = entry;
}

// Takes one out of its list; null if there is none left.
CallbackEntry* takeOut(ThreadSlot* slot, CallbackList& list, uint32_t index) noexcept {
  CallbackEntry* const entry = list.entries[index];
  entry->handle.store(INVALID_CALLBACK_HANDLE, std::memory_order_seq_cst);
  list.removeAt(index);
  if (slot != nullptr && &list == &slot->local_callbacks) --process.local_callback_count;
  publishChange();
  return entry;
}

template <typename ListOf>
void clear(ListOf list_of) {
  for (;;) {
    CallbackEntry* entry = nullptr;
    {
      const ControlSection section;
      const std::lock_guard lock(process.mutex);
      CallbackList* const list = list_of(section.slot());
      if (list == nullptr || list->count == 0) return;
      entry = takeOut(section.slot(), *list, list->count - 1);
    }
    retire(entry);
  }
}

CallbackList* localList(ThreadSlot* slot) { return slot != nullptr ? &slot->local_callbacks : nullptr; }
CallbackList* globalList(ThreadSlot*) { return &process.global_callbacks; }

}  // namespace

CallbackHandle addGlobalCallback(RecordFunctionCallback callback) {
  const ControlSection section;
  const std::lock_guard lock(process.mutex);
  CallbackEntry* const entry = newEntry(callback);
  if (!process.global_callbacks.add(entry)) throw std::bad_alloc();
  publishChange();
  return entry->handle.load(std::memory_order_relaxed);
}

CallbackHandle addThreadLocalCallback(RecordFunctionCallback callback) {
  const ControlSection section;
  if (section.slot() == nullptr) throw std::bad_alloc();
  return addLocal(*section.slot(), {callback});
}

void removeCallback(CallbackHandle handle) {
  CallbackEntry* entry = nullptr;
  {
    const ControlSection section;
    const std::lock_guard lock(process.mutex);
    const auto [list, index] = find(section.slot(), handle);
    if (list != nullptr) entry = takeOut(section.slot(), *list, index);
  }
  entry != nullptr ? retire(entry) : warnUnknown("removeCallback", handle);
}

void disableCallback(CallbackHandle handle) {
  if (!setEnabled(handle, false)) warnUnknown("disableCallback", handle);
}
void reenableCallback(CallbackHandle handle) {
  if (!setEnabled(handle, true)) warnUnknown("reenableCallback", handle);
}

bool hasGlobalCallbacks() {
  const ControlSection section;
  const std::lock_guard lock(process.mutex);
  return process.global_callbacks.anyEnabled();
}

bool hasThreadLocalCallbacks() {
  const ControlSection section;
  const std::lock_guard lock(process.mutex);
  return section.slot() != nullptr && section.slot()->local_callbacks.anyEnabled();
}

bool hasCallbacks() { return hasThreadLocalCallbacks() || hasGlobalCallbacks(); }
void clearGlobalCallbacks() { clear(globalList); }
void clearThreadLocalCallbacks() { clear(localList); }

void clearCallbacks() {
  clearThreadLocalCallbacks();
  clearGlobalCallbacks();
}

void enableRecordFunction(bool enable) {
  ThreadSlot* const slot = attachThread();
  if (slot == nullptr || slot->enabled == enable) return;
  slot->enabled = enable;
  slot->synced_word = 0;
  slot->way = kNotFast;
  gate.expected.store(kStale, std::memory_order_relaxed);
  if (gate.armed.load(std::memory_order_relaxed) != kBusy) gate.leave(kNotFast);
}

bool isRecordFunctionEnabled() {
  const ThreadSlot* const slot = attachThread();
  return slot == nullptr || slot->enabled;
}

RecordFunctionTLS get_record_function_tls_() {
  const ControlSection section;
  RecordFunctionTLS tls;
  if (section.slot() == nullptr) return tls;
  const CallbackList& local = section.slot()->local_callbacks;
  for (uint32_t i = 0; i < local.count; ++i) {
    const CallbackEntry& entry = *local.entries[i];
    tls.sorted_tls_callbacks_.push_back({entry.callback, entry.enabled, entry.handle.load(std::memory_order_relaxed)});
  }
  tls.tls_record_function_enabled_ = section.slot()->enabled;
  return tls;
}

void set_record_function_tls_(const RecordFunctionTLS& tls) {
  clearThreadLocalCallbacks();
  {
    const ControlSection section;
    if (section.slot() == nullptr) return;
    for (const RecordFunctionCallbacksEntry& entry : tls.sorted_tls_callbacks_) addLocal(*section.slot(), entry);
  }
  enableRecordFunction(tls.tls_record_function_enabled_);
}

void set_record_function_seed_for_testing(uint32_t seed) {
  const ControlSection section;
  if (section.slot() == nullptr) return;
  section.slot()->steps.random = (static_cast<uint64_t>(seed) + 1) * 0x9E3779B97F4A7C15u;
  const std::lock_guard lock(process.mutex);
  publishChange();
}

}  // namespace xsigma::profiler
