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

uint32_t internString(std::string_view text) noexcept {
  const uint32_t known = process.names.stringCount();
  const uint32_t id = process.names.internString(text);
  if (process.names.stringCount() != known) {
    for (const Session& session : process.sessions) {
      if (session.sink != nullptr) session.sink->addString(id, process.names.string(id));
    }
  }
  return id;
}

uint32_t internSite(std::string_view name, std::string_view file, uint32_t line, RecordScope scope) noexcept {
  internString(name);
  internString(file);
  const uint32_t known = process.names.siteCount();
  const uint32_t id = process.names.internSite(name, file, line, scope);
  if (process.names.siteCount() != known) {
    for (const Session& session : process.sessions) {
      if (session.sink != nullptr) session.sink->addSite(id, process.names.site(id));
    }
  }
  return id;
}

void attachWriter(ThreadSlot& slot, uint32_t index) noexcept {
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
