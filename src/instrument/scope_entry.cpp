#include "instrument/scope_entry.h"

#include <cstring>

#include "base/arena.h"
#include "instrument/observed_scope.h"
#include "instrument/thread_registry.h"

namespace xsigma::profiler {
namespace instrument {
namespace {

using capture::Code;
using capture::siteHead;
using detail::ScopeSite;
using detail::ScopeToken;

uint32_t registerSite(ScopeSite& site) noexcept {
  const std::lock_guard lock(process.mutex);
  const uint32_t id = internSite(site.name, site.file, site.line, site.scope);
  if (id == capture::NameTable::kOverflow) return 0;
  const uint32_t head = siteHead(Code::begin, id);
  site.registered.store(head, std::memory_order_relaxed);
  return head;
}

// Begins in every capture that this thread feeds. Leaves the slot.
ScopeToken beginInWriters(ThreadSlot& slot, uint32_t head) noexcept {
  uint8_t dropped = 0;
  uint64_t ticks = slot.beginTicks();
  forEachRecording(slot, [&](capture::Writer& writer, uint32_t index) {
    if (!writer.ensure(capture::kBeginWords, ticks)) {
      writer.countDrop(writer.why());
      dropped = static_cast<uint8_t>(dropped | 1u << index);
      return;
    }
    uint32_t* const at = writer.next();
    at[0] = head;
    at[1] = writer.delta(ticks);
    writer.commit(capture::kBeginWords, 1);
  });
  const uint64_t word = slot.synced_word;
  const bool any = dropped != slot.recording;
  slot.leave();
  return any ? ScopeToken{ticks, tokenReference(head, word) | dropped} : ScopeToken{};
}

bool observed(const ThreadSlot& slot, RecordScope scope) noexcept {
  return slot.steps.wants(scope) && slot.running.load(std::memory_order_relaxed) == nullptr;
}

__attribute__((noinline)) ScopeToken beginSlow(ThreadSlot* slot, uint64_t was, ScopeSite& site) noexcept {
  slot = settle(slot, was);
  if (slot == nullptr) return {};
  uint32_t head = site.registered.load(std::memory_order_relaxed);
  if (head == 0) head = registerSite(site);
  if (!slot->enabled || head == 0) {
    slot->leave();
    return {};
  }
  if (observed(*slot, site.scope)) return beginObserved(*slot, site.name, head, site.scope);
  return beginInWriters(*slot, head);
}

__attribute__((noinline)) ScopeToken beginSlow(ThreadSlot* slot, uint64_t was, std::string_view name, RecordScope scope) noexcept {
  slot = settle(slot, was);
  if (slot == nullptr) return {};
  const char* copy = "";
  const uint32_t head = slot->enabled ? headFor(*slot, name, scope, &copy) : 0;
  if (head == 0) {
    slot->leave();
    return {};
  }
  if (observed(*slot, scope)) return beginObserved(*slot, copy, head, scope);
  return beginInWriters(*slot, head);
}

__attribute__((noinline)) void endSlow(ThreadSlot* slot, uint64_t was, ScopeToken token, uint64_t ticks) noexcept {
  slot = settle(slot, was);
  if (slot == nullptr) return;
  if (slot->ordered || slot->counter_is_clock) ticks = slot->endTicks();
  endInWriters(*slot, static_cast<uint32_t>(token.reference) >> 8, epochOf(token.reference & kEpochMask),
               static_cast<uint8_t>(token.reference & kSessionBits), token.ticks, ticks);
  slot->leave();
}

}  // namespace

uint32_t headFor(ThreadSlot& slot, std::string_view name, RecordScope scope, const char** copy) noexcept {
  name = name.substr(0, capture::kMaxStringBytes);
  if (slot.names != nullptr) [[likely]] {
    if (const NameCache::Entry* const known = slot.names->find(name, scope)) [[likely]] {
      *copy = known->copy;
      return known->head;
    }
  }
  const std::lock_guard lock(process.mutex);
  if (slot.names == nullptr) slot.names = static_cast<NameCache*>(base::allocateForever(sizeof(NameCache), alignof(NameCache)));
  const uint32_t id = internSite(name, {}, 0, scope);
  if (id == capture::NameTable::kOverflow) {
    for (const Session& session : process.sessions) {
      if (session.sink != nullptr) session.sink->count(capture::kHeaderNamesDropped);
    }
    return 0;
  }
  *copy = process.names.string(process.names.site(id).name).data();
  const uint32_t head = siteHead(Code::begin, id);
  if (slot.names != nullptr) slot.names->add(name, scope, *copy, head);
  return head;
}

void endInWriters(ThreadSlot& slot, uint32_t site, uint32_t begin_epoch, uint8_t dropped, uint64_t begin_ticks, uint64_t ticks) noexcept {
  forEachRecording(slot, [&](capture::Writer& writer, uint32_t index) {
    if (writer.sinceEpoch() <= begin_epoch && (dropped >> index & 1) == 0) writer.putEnd(site, begin_ticks, ticks);
  });
}

}  // namespace instrument

namespace detail {

using namespace instrument;

ScopeToken beginScope(ScopeSite& site) noexcept {
  ThreadSlot* const slot = current_slot;
  const uint64_t was = slot->enter();
  const uint64_t word = active_word.load(std::memory_order_relaxed);
  const uint32_t head = site.registered.load(std::memory_order_relaxed);
  if (was == word && head != 0) [[likely]] {
    const uint64_t ticks = slot->fast->tryBegin(head);
    if (ticks != 0) [[likely]] {
      slot->leave(word);
      return {ticks, tokenReference(head, word)};
    }
  }
  return beginSlow(slot, was, site);
}

ScopeToken beginScope(std::string_view name, RecordScope scope) noexcept {
  ThreadSlot* const slot = current_slot;
  const uint64_t was = slot->enter();
  const uint64_t word = active_word.load(std::memory_order_relaxed);
  if (was == word && slot->names != nullptr) [[likely]] {
    const NameCache::Entry* const known = slot->names->find(name, scope);
    if (known != nullptr) [[likely]] {
      const uint64_t ticks = slot->fast->tryBegin(known->head);
      if (ticks != 0) [[likely]] {
        slot->leave(word);
        return {ticks, tokenReference(known->head, word)};
      }
    }
  }
  return beginSlow(slot, was, name, scope);
}

void endScope(ScopeToken token) noexcept {
  const uint64_t ticks = base::readTicks();
  if ((token.reference & kFrameBit) != 0) [[unlikely]] return endObserved(token, ticks);
  ThreadSlot* const slot = current_slot;
  const uint64_t was = slot->enter();
  const uint64_t word = active_word.load(std::memory_order_relaxed);
  if (was == word && (token.reference ^ word) >> 32 == 0) [[likely]] {
    const uint32_t head = capture::siteHead(capture::Code::end, static_cast<uint32_t>(token.reference) >> 8);
    if (slot->fast->tryEnd(head, token.ticks, ticks)) [[likely]] return slot->leave(word);
  }
  endSlow(slot, was, token, ticks);
}

}  // namespace detail
}  // namespace xsigma::profiler
