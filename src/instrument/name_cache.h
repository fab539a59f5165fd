// NameCache: a thread's memory of the names it has used, so that a dynamic name costs a compare and not a lock.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "capture/name_table.h"
#include "xsigma/profiler/record_scope.h"

namespace xsigma::profiler::instrument {

class NameCache {
 public:
  struct Entry {
    const char* pointer;  // as the caller passed it, or null in the table by content
    const char* copy;     // the interned text, zero-terminated
    uint32_t size;
    uint32_t hash;
    uint32_t head;  // of a begin record
    RecordScope scope;
  };

  // By address, then by content; the bytes are compared in either case.
  const Entry* find(std::string_view name, RecordScope scope) noexcept {
    Entry* const set = &by_pointer_[pointerSet(name) * kWays];
    for (uint32_t way = 0; way < kWays; ++way) {
      if (set[way].pointer == name.data() && matches(set[way], name, scope)) [[likely]] return &set[way];
    }
    return findByContent(name, scope, set);
  }

  const Entry* add(std::string_view name, RecordScope scope, const char* copy, uint32_t head) noexcept;

 private:
  static constexpr uint32_t kWays = 4;
  static constexpr uint32_t kSets = 32;

  static uint32_t pointerSet(std::string_view name) noexcept {
    return static_cast<uint32_t>((reinterpret_cast<uint64_t>(name.data()) + name.size()) * 0x9E3779B97F4A7C15u >> 59);
  }
  static bool matches(const Entry& entry, std::string_view name, RecordScope scope) noexcept {
    return entry.size == name.size() && entry.scope == scope && entry.head != 0 && std::memcmp(entry.copy, name.data(), name.size()) == 0;
  }
  const Entry* findByContent(std::string_view name, RecordScope scope, Entry* pointer_set) noexcept;
  Entry& victim(Entry* set) noexcept { return set[turn_++ % kWays]; }

  Entry by_pointer_[kSets * kWays];
  Entry by_content_[kSets * kWays];
  uint32_t turn_;
};

}  // namespace xsigma::profiler::instrument
