#include "xsigma/profiler/marks.h"

#include <algorithm>

#include "capture/mark_codec.h"
#include "instrument/process_state.h"
#include "instrument/scope_entry.h"
#include "instrument/thread_registry.h"
#include "xsigma/profiler/memory.h"

namespace xsigma::profiler {

using namespace instrument;

namespace {

// Runs put(writer, ticks, site) for every capture that this thread feeds. A mark without a name has site 0.
// Memory goes only to those who want to know of it; while collection is switched off, nothing goes anywhere.
template <typename Put>
void mark(const std::string_view* name, RecordScope scope, Put put, bool memory = false) noexcept {
  if (!detail::anyoneListens()) return;
  ThreadSlot* const slot = enterSettled(false);
  if (slot == nullptr) return;
  if (slot->enabled && slot->recording != 0) {
    const char* copy = nullptr;
    const uint32_t site = name == nullptr ? 0 : capture::headSite(headFor(*slot, *name, scope, &copy));
    const uint64_t ticks = slot->beginTicks();
    forEachRecording(*slot, [&](capture::Writer& writer, uint32_t index) {
      if (memory ? (slot->memory >> index & 1) != 0 : slot->scopes[index] != 0) put(writer, ticks, site);
    });
  }
  slot->leave();
}

constexpr RecordScope kUser = RecordScope::USER_SCOPE;

}  // namespace

void recordInstant(std::string_view name) noexcept {
  mark(&name, kUser, [](capture::Writer& writer, uint64_t ticks, uint32_t site) { capture::putInstant(writer, ticks, site); });
}

void recordCounter(std::string_view name, double value) noexcept {
  mark(&name, kUser, [=](capture::Writer& writer, uint64_t ticks, uint32_t site) { capture::putCounter(writer, ticks, site, value); });
}

void recordMetadata(std::string_view key, std::string_view value) noexcept {
  mark(&key, kUser, [=](capture::Writer& writer, uint64_t ticks, uint32_t site) { capture::putMetadata(writer, ticks, site, value); });
}

void recordAsyncBegin(std::string_view name, uint64_t id) noexcept {
  mark(&name, kUser, [=](capture::Writer& writer, uint64_t ticks, uint32_t site) { capture::putAsyncBegin(writer, ticks, site, id); });
}

void recordAsyncEnd(std::string_view name, uint64_t id) noexcept {
  mark(&name, kUser, [=](capture::Writer& writer, uint64_t ticks, uint32_t site) { capture::putAsyncEnd(writer, ticks, site, id, 0); });
}

void reportMemoryUsage(void* ptr, int64_t bytes, size_t total_allocated, size_t total_reserved, Device device) noexcept {
  mark(nullptr, kUser, [=](capture::Writer& writer, uint64_t ticks, uint32_t) {
    capture::putMemory(writer, ticks, capture::Code::memory, ptr, bytes, total_allocated, total_reserved, device);
  }, true);
}

void reportOutOfMemory(int64_t bytes, size_t total_allocated, size_t total_reserved, Device device) noexcept {
  mark(nullptr, kUser, [=](capture::Writer& writer, uint64_t ticks, uint32_t) {
    capture::putMemory(writer, ticks, capture::Code::out_of_memory, nullptr, bytes, total_allocated, total_reserved, device);
  }, true);
}

void setThreadName(std::string_view name) noexcept {
  const ControlSection section;
  ThreadSlot* const slot = section.slot();
  if (slot == nullptr) return;
  name = name.substr(0, sizeof slot->name - 1);
  *std::copy(name.begin(), name.end(), slot->name) = 0;
  const std::lock_guard lock(process.mutex);
  const uint32_t id = internString(name);
  for (uint32_t i = 0; i < kMaxSessions; ++i) {
    const capture::Writer& writer = slot->writerOf(i);
    const Session& session = process.sessions[i];
    if (session.sink != nullptr && writer.feeds(session.sink, session.start_epoch)) session.sink->addThreadName(writer.threadIndex(), id);
  }
}

}  // namespace xsigma::profiler
