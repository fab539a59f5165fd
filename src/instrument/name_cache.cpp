#include "instrument/name_cache.h"

namespace xsigma::profiler::instrument {
const NameCache::Entry* NameCache::find(std::string_view name, RecordScope scope) const noexcept {
  const Key key(name, scope);
  const Entry* const set = &entries_[key.set() * kWays];
  const Entry* const end = set + kWays;
  for (const Entry* entry = set; entry != end; ++entry) {
    const uint64_t different = (entry->first ^ key.first) | (entry->middle ^ key.middle) | (entry->last ^ key.last) | (entry->about ^ key.about);
    if (different != 0) continue;
    if (name.size() <= kCovered || sameInside(entry->copy, name)) return entry;
  }
  return nullptr;
}

void NameCache::add(std::string_view name, RecordScope scope, const char* copy, uint32_t head) noexcept {
  const Key key(name, scope);
  entries_[key.set() * kWays + turn_++ % kWays] = {key.first, key.middle, key.last, key.about, copy, head};
}

}  // namespace xsigma::profiler::instrument
