// How calls into device libraries find their place among the scopes of their thread: ThreadStream's part of linking device work to who asked for it.
#include <algorithm>

#include "assemble/thread_stream.h"

namespace xsigma::profiler::assemble {

using capture::RawRecord;

void ThreadStream::externalId(const RawRecord& record) {
  std::vector<ExternalId>& open = external_ids_[static_cast<uint8_t>(record.word(2))];
  if (record.code() == capture::Code::external_push) {
    open.push_back({record.wide(0), record.ticks});
  } else if (!open.empty()) {
    open.pop_back();
  }
}

// The scopes of users around a frame, itself included, are noted when something is first asked for in it.
uint32_t ThreadStream::userScope(size_t frame) {
  size_t known = frame;
  while (known > 0 && frames_[known].user_scope == kUnknownScope) --known;
  uint32_t scope = known == 0 ? UINT32_MAX : frames_[known].user_scope;
  for (size_t i = known + 1; i <= frame; ++i) {
    const capture::Tables::ResolvedSite* const site = source_.contents().tables.site(frames_[i].site);
    if (site != nullptr && site->scope == RecordScope::USER_SCOPE) {
      leftovers_.user_scopes.push_back({scope, frames_[i].site, frames_[i].id});
      scope = static_cast<uint32_t>(leftovers_.user_scopes.size() - 1);
    }
    frames_[i].user_scope = scope;
  }
  return scope;
}

AskingScope ThreadStream::askingScope() {
  AskingScope asker;
  asker.row = part_.row;
  const Frame& innermost = frames_.back();
  if (frames_.size() > 1) {
    asker.id = innermost.id;
    asker.name = innermost.site;
    asker.user_scope = userScope(frames_.size() - 1);
  }
  constexpr uint8_t kOps = 0;  // the domain of ids that stand for ops
  const auto told = external_ids_.find(kOps);
  if (told == external_ids_.end() || told->second.empty()) return asker;
  if (frames_.size() == 1 || told->second.back().ticks > innermost.begin_ticks) {
    asker.id = told->second.back().id;
    asker.name = 0;
  }
  return asker;
}

// All that began before a moment at which a scope begins or ends: they lie in the scope that is open, or cross its bounds.
void ThreadStream::placeGuests(int64_t before_ns) {
  while (guests_.before(before_ns)) {
    const uint32_t index = (*guests_.order)[guests_.next++];
    DeviceEvent& guest = guests_.events->all[index];
    guest.asker = askingScope();
    if (guest.activity.role != DeviceRole::call) continue;
    const int64_t start_ns = guest.startNs();
    const int64_t end_ns = guest.endNs();
    std::vector<int64_t>& open_ends = guests_.open_ends;
    while (!open_ends.empty() && open_ends.back() <= start_ns) open_ends.pop_back();
    Frame& around = frames_.back();
    const bool fits = end_ns <= before_ns && (open_ends.empty() ? start_ns >= around.cursor_ns : end_ns <= open_ends.back());
    if (!fits) continue;
    guest.placed = true;
    guest.place.row = part_.row;
    guest.place.depth = static_cast<uint16_t>(std::min<size_t>(depth() + open_ends.size(), UINT16_MAX));
    open_ends.push_back(end_ns);
    around.cursor_ns = std::max(around.cursor_ns, end_ns);
    if (frames_.size() == 1) first_after_gap_ns_ = std::min(first_after_gap_ns_, start_ns);
    leftovers_.has_slices = true;
    leftovers_.last_ns = std::max(leftovers_.last_ns, end_ns);
  }
}

}  // namespace xsigma::profiler::assemble
