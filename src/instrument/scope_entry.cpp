#include "instrument/scope_entry.h"

#include <cstring>

#include "base/arena.h"
#include "instrument/begin_extras.h"
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

ScopeToken leaveWithToken(ThreadSlot& slot, uint32_t head, uint64_t ticks, uint8_t dropped) noexcept {
  const uint64_t general = slot.single ? 0 : kGeneralEnd;
  const uint64_t reference = tokenReference(head, slot.epochHigh()) + droppedBits(dropped) + general;
  const bool any = dropped != slot.recording;
  slot.leave();
  return any ? ScopeToken{ticks, reference} : ScopeToken{};
}

// For recordings that do not want all of it, or more.
__attribute__((noinline)) ScopeToken beginDetailed(ThreadSlot& slot, uint32_t head, RecordScope scope) noexcept {
  const BeginExtras extras(slot);
  uint8_t dropped = 0;
  uint64_t ticks = slot.beginTicks();
  forEachRecording(slot, [&](capture::Writer& writer, uint32_t index) {
    const bool collected = slot.collects(index, scope);
    if (!collected || !writer.ensure(BeginExtras::kMostWords + capture::kBeginWords, ticks)) {
      if (collected) writer.countDrop(writer.why());
      dropped = static_cast<uint8_t>(dropped | 1u << index);
      return;
    }
    uint32_t* const at = writer.next();
    const uint32_t words = extras.put(writer, index, writer.delta(ticks), at);
    at[words] = head;
    at[words + 1] = writer.delta(ticks);
    writer.commit(words + capture::kBeginWords, 1);
  });
  return leaveWithToken(slot, head, ticks, dropped);
}

// Begins in every capture that this thread feeds. Leaves the slot.
ScopeToken beginInWriters(ThreadSlot& slot, uint32_t head, RecordScope scope) noexcept {
  if (slot.detailed) [[unlikely]] return beginDetailed(slot, head, scope);
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
  return leaveWithToken(slot, head, ticks, dropped);
}

bool observed(const ThreadSlot& slot, RecordScope scope) noexcept {
  return slot.steps.wants(scope) && slot.running.load(std::memory_order_relaxed) == nullptr;
}

// The slow ways find the slot again by themselves: what the quick ones keep in registers stays little.
__attribute__((noinline)) ScopeToken beginGeneral(ScopeSite& site, uint64_t was) noexcept {
  ThreadSlot* const slot = settle(was);
  if (slot == nullptr) return {};
  uint32_t head = site.registered.load(std::memory_order_relaxed);
  if (head == 0) head = registerSite(site);
  if (!slot->enabled || head == 0) {
    slot->leave();
    return {};
  }
  if (observed(*slot, site.scope)) return beginObserved(*slot, site.name, head, site.scope);
  return beginInWriters(*slot, head, site.scope);
}

__attribute__((noinline)) ScopeToken beginSlow(ScopeSite& site, uint64_t was) noexcept {
  if ((was & kGeneral) != 0) [[likely]] {
    ThreadSlot& slot = *gate.slot;
    ObservedFrame& frame = *slot.free_frames;
    const uint32_t head = site.registered.load(std::memory_order_relaxed);
    if (frame.ready_for == was && head != 0 && observed(slot, site.scope) &&
        beginLean(slot, frame, site.name, head, site.scope, was)) [[likely]] {
      return frame.token();
    }
  }
  return beginGeneral(site, was);
}

// A name that is not the one used last. Null if this thread has not used it lately.
__attribute__((noinline)) const NameCache::Entry* searchName(std::string_view name, RecordScope scope) noexcept {
  NameCache* const names = gate.slot->names;
  const NameCache::Entry* const known = names != nullptr ? names->find(name, scope) : nullptr;
  if (known != nullptr) gate.recent_name = known;
  return known;
}

__attribute__((noinline)) ScopeToken beginSlow(std::string_view name, RecordScope scope, uint64_t was) noexcept {
  ThreadSlot* const slot = settle(was);
  if (slot == nullptr) return {};
  const char* copy = "";
  const uint32_t head = slot->enabled ? headFor(*slot, name, scope, &copy) : 0;
  if (head == 0) {
    slot->leave();
    return {};
  }
  if (observed(*slot, scope)) return beginObserved(*slot, copy, head, scope);
  return beginInWriters(*slot, head, scope);
}

__attribute__((noinline)) void endCounted(ThreadSlot& slot, uint32_t site, uint32_t begin_epoch, uint8_t dropped, uint64_t begin_ticks, uint64_t ticks) noexcept {
  forEachRecording(slot, [&](capture::Writer& writer, uint32_t index) {
    if (writer.sinceEpoch() > begin_epoch || (dropped >> index & 1) != 0) return;
    putEndCounters(slot, writer, index, ticks);
    writer.putEnd(site, begin_ticks, ticks);
  });
}

void endInSlot(ThreadSlot& slot, ScopeToken token, uint64_t ticks) noexcept {
  endInWriters(slot, tokenSite(token.reference), tokenEpoch(token.reference), tokenDropped(token.reference), token.ticks, ticks);
  slot.leave();
}

// The end of a scope that began on the general way.
__attribute__((noinline)) void endSlow(ScopeToken token) noexcept {
  if (token.reference << 1 == 0) return endObserved(token.ticks);
  if (ThreadSlot* const slot = enterSettled(false)) endInSlot(*slot, token, slot->endTicks());
}

// The quick way ended after the counter was read.
__attribute__((noinline)) void endSlow(ScopeToken token, uint64_t was, base::TickHalves now) noexcept {
  ThreadSlot* const slot = settle(was, false);
  if (slot == nullptr) return;
  endInSlot(*slot, token, slot->ordered || slot->counter_is_clock ? slot->endTicks() : now.high << 32 | now.low);
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
  if (slot.counted != 0) [[unlikely]] return endCounted(slot, site, begin_epoch, dropped, begin_ticks, ticks);
  forEachRecording(slot, [&](capture::Writer& writer, uint32_t index) {
    if (writer.sinceEpoch() <= begin_epoch && (dropped >> index & 1) == 0) writer.putEnd(site, begin_ticks, ticks);
  });
}

}  // namespace instrument

namespace detail {

using namespace instrument;

ScopeToken beginScope(ScopeSite& site) noexcept {
  const uint64_t was = gate.enter();
  const uint32_t head = site.registered.load(std::memory_order_relaxed);
  uint64_t ticks;
  if (head == 0) [[unlikely]] return beginSlow(site, was);
  if (!gate.isInStep(was)) [[unlikely]] return beginSlow(site, was);
  if (!gate.first.tryBegin(head, ticks)) [[unlikely]] return beginSlow(site, was);
  gate.leave(was);
  return {ticks, tokenReference(head, was)};
}

ScopeToken beginScope(std::string_view name, RecordScope scope) noexcept {
  const uint64_t was = gate.enter();
  if (gate.isInStep(was)) [[likely]] {
    const NameCache::Entry* known = gate.recent_name;
    if (!NameCache::isName(*known, name, scope)) known = searchName(name, scope);
    uint64_t ticks;
    if (known != nullptr && gate.first.tryBegin(known->head, ticks)) [[likely]] {
      gate.leave(was);
      return {ticks, tokenReference(known->head, was)};
    }
  }
  return beginSlow(name, scope, was);
}

void endScope(ScopeToken token) noexcept {
  if (static_cast<int64_t>(token.reference) < 0) [[unlikely]] return endSlow(token);
  const base::TickHalves now = base::readTickHalves();  // first: what comes after it hides behind it better than what comes before
  const uint64_t was = gate.enter();
  if (!gate.isInStep(was)) [[unlikely]] return endSlow(token, was, now);
  if (!gate.first.tryEnd(static_cast<uint32_t>(token.reference), token.ticks, now)) [[unlikely]] return endSlow(token, was, now);
  gate.leave(was);
}

}  // namespace detail
}  // namespace xsigma::profiler
