#include "instrument/name_cache.h"

namespace xsigma::profiler::instrument {

const NameCache::Entry* NameCache::findByContent(std::string_view name, RecordScope scope, Entry* pointer_set) noexcept {
  const uint32_t hash = capture::hashText(name);
  Entry* const set = &by_content_[hash % kSets * kWays];
  for (uint32_t way = 0; way < kWays; ++way) {
    if (set[way].hash != hash || !matches(set[way], name, scope)) continue;
    // An address that comes back is found by address next time; one that moves about must not push others out.
    if (set[way].pointer == name.data()) victim(pointer_set) = set[way];
    set[way].pointer = name.data();
    return &set[way];
  }
  return nullptr;
}

const NameCache::Entry* NameCache::add(std::string_view name, RecordScope scope, const char* copy, uint32_t head) noexcept {
  const uint32_t hash = capture::hashText(name);
  Entry& entry = victim(&by_content_[hash % kSets * kWays]);
  entry = {name.data(), copy, static_cast<uint32_t>(name.size()), hash, head, scope};
  return &entry;
}

}  // namespace xsigma::profiler::instrument
