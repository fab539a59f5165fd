#include "instrument/process_state.h"

#include <sys/prctl.h>

#include <algorithm>

namespace xsigma::profiler {

constinit std::atomic<uint64_t> detail::active_word{0};

namespace instrument {

constinit ProcessState process;

void publishChange() noexcept {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < kMaxSessions; ++i) {
    if (process.sessions[i].sink != nullptr && !process.sessions[i].by_hand) bits |= 1u << i;
  }
  if (process.global_callbacks.anyEnabled()) bits |= kGlobalCallbacksBit;
  if (process.local_callback_count != 0) bits |= kLocalCallbacksBit;
  if (process.follow_fork_pending) bits |= kFollowForkBit;
  ++process.epoch;
  detail::active_word.store(bits == 0 ? 0 : bits | static_cast<uint64_t>(process.epoch) << 32, std::memory_order_seq_cst);
  for (ThreadSlot* slot = process.slots.load(std::memory_order_relaxed); slot != nullptr; slot = slot->next) {
    if (slot->own_gate != nullptr) slot->own_gate->expected.store(kStale, std::memory_order_seq_cst);
  }
}

namespace {

void writeString(const Session& session, uint32_t place, uint32_t id) noexcept {
  if (id != 0 && process.names.markStringWritten(id, place, session.start_epoch)) session.sink->addString(id, process.names.string(id));
}

}  // namespace

void writeSite(const Session& session, uint32_t place, uint32_t id) noexcept {
  if (!process.names.markSiteWritten(id, place, session.start_epoch)) return;
  const capture::Site& site = process.names.site(id);
  writeString(session, place, site.name);
  writeString(session, place, site.file);
  session.sink->addSite(id, site);
}

uint32_t internString(std::string_view text) noexcept {
  const uint32_t id = process.names.internString(text);
  for (uint32_t place = 0; place < kMaxSessions; ++place) {
    if (process.sessions[place].sink != nullptr) writeString(process.sessions[place], place, id);
  }
  return id;
}

uint32_t internSite(std::string_view name, std::string_view file, uint32_t line, RecordScope scope) noexcept {
  const uint32_t id = process.names.internSite(name, file, line, scope);
  if (id == capture::NameTable::kOverflow) return id;
  for (uint32_t place = 0; place < kMaxSessions; ++place) {
    if (process.sessions[place].sink != nullptr) writeSite(process.sessions[place], place, id);
  }
  return id;
}

void attachWriter(ThreadSlot& slot, uint32_t index) noexcept {
  static_assert(kMaxSessions == capture::NameTable::kCaptures);
  if (slot.names != nullptr) slot.names->clear();  // a name that was used before is written to the new capture when it is used again
  const Session& session = process.sessions[index];
  if (slot.name[0] == 0) {
    char system_name[16] = {};
    prctl(PR_GET_NAME, system_name);
    std::copy(std::begin(system_name), std::end(system_name), slot.name);
  }
  capture::ThreadRecord* const thread = session.sink->addThread(slot.system_id, slot.logical_id, internString(slot.name));
  slot.writerOf(index).attach(*session.sink, thread, session.start_epoch);
}

}  // namespace instrument
}  // namespace xsigma::profiler
