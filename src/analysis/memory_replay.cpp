#include "analysis/memory_replay.h"

#include <algorithm>

namespace xsigma::profiler::analysis {

void MemoryReplay::step() {
  const MemoryEvent& event = device_.events[next_++];
  const auto category = static_cast<size_t>(event.category);
  if (event.action == MemoryAction::alloc) {
    Held& held = held_[event.scope];
    held.bytes += event.bytes;
    ++held.blocks;
    by_category_[category] += event.bytes;
  } else if (event.action == MemoryAction::free) {
    Held& held = held_[device_.events[event.partner].scope];  // who allocated it no longer holds it, whoever released it
    held.bytes -= event.bytes;
    --held.blocks;
    by_category_[category] -= event.bytes;
  }
}

std::vector<MemoryHolder> MemoryReplay::holders() const {
  std::vector<MemoryHolder> all;
  for (uint32_t scope = 0; scope < held_.size(); ++scope) {
    if (held_[scope].blocks != 0) all.push_back({scope, held_[scope].bytes, held_[scope].blocks});
  }
  std::sort(all.begin(), all.end(),
            [](const MemoryHolder& a, const MemoryHolder& b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.scope < b.scope; });
  return all;
}

MemoryMoment MemoryReplay::moment() const {
  MemoryMoment now;
  if (next_ == 0) return now;
  const MemoryEvent& last = device_.events[next_ - 1];
  now.time_ns = last.time_ns;
  now.bytes = last.allocated;
  now.by_category = by_category_;
  now.holders = holders();
  now.scopes = now.holders.size();
  if (now.holders.size() > kMostHolders) now.holders.resize(kMostHolders);
  now.event = static_cast<uint32_t>(next_ - 1);
  return now;
}

}  // namespace xsigma::profiler::analysis
