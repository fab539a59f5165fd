// NameCache: a thread's memory of the names it has used, so that a dynamic name costs a compare and not a lock.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "xsigma/profiler/record_scope.h"

namespace xsigma::profiler::instrument {

class NameCache {
 public:
  struct Entry {
    uint64_t first, middle, last;  // eight bytes each: all there is of a name up to 24 bytes
    uint64_t about;                // size << 8 | scope, and kUsed
    const char* copy;              // the interned text, zero-terminated
    uint32_t head;                 // of a begin record
  };

  // Whether the entry, the one this thread used last, is the name: no search, all bytes compared. Short names are left to the search.
  static bool isName(const Entry& entry, std::string_view name, RecordScope scope) noexcept {
    const size_t size = name.size();
    if (size < 8 || entry.about != aboutOf(size, scope)) return false;
    const char* const text = name.data();
    return load(text) == entry.first && load(text + size - 8) == entry.last && (size <= 16 || sameInside(entry.copy, name));
  }

  // By content, whatever the address. Null if this thread has not used the name lately.
  const Entry* find(std::string_view name, RecordScope scope) const noexcept;
  void clear() noexcept { std::memset(static_cast<void*>(entries_), 0, sizeof entries_); }
  void add(std::string_view name, RecordScope scope, const char* copy, uint32_t head) noexcept;

 private:
  static constexpr uint32_t kWays = 4;
  static constexpr uint32_t kSetBits = 7;
  static constexpr size_t kCovered = 24;
  static constexpr uint64_t kUsed = 0x80;  // of `about`

  static uint64_t aboutOf(size_t size, RecordScope scope) noexcept { return size << 8 | static_cast<uint8_t>(scope) | kUsed; }
  static uint64_t load(const char* from) noexcept {
    uint64_t bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    return bytes;
  }
  // First and last eight bytes are known to be equal. Quicker than memcmp for the length of a name.
  static bool sameInside(const char* copy, std::string_view name) noexcept {
    const size_t last = name.size() - 8;
    for (size_t at = 8; at < last; at += 8) {
      if (load(copy + at) != load(name.data() + at)) return false;
    }
    return true;
  }

  struct Key {
    Key(std::string_view name, RecordScope scope) noexcept : about(aboutOf(name.size(), scope)) {
      const size_t size = name.size();
      if (size >= 16) {
        first = load(name.data());
        middle = load(name.data() + size / 2 - 4);
        last = load(name.data() + size - 8);
        for (size_t at = 8; size > kCovered && at < size - 8; at += 8) inside = (inside << 23 | inside >> 41) + load(name.data() + at);
      } else if (size >= 8) {
        first = load(name.data());
        last = load(name.data() + size - 8);
      } else {
        for (size_t i = 0; i < size; ++i) first = first << 8 | static_cast<uint8_t>(name[i]);
      }
    }
    uint32_t set() const noexcept {
      const uint64_t mixed = (first ^ about) * 0x9E3779B97F4A7C15u + (middle ^ inside) * 0xC2B2AE3D27D4EB4Fu + last * 0x165667B19E3779F9u;
      return static_cast<uint32_t>((mixed ^ mixed >> 29) * 0xFF51AFD7ED558CCDu >> (64 - kSetBits));
    }
    uint64_t about;
    uint64_t first = 0, middle = 0, last = 0;
    uint64_t inside = 0;  // of a longer name: what lies between, for the choice of the set
  };

  Entry entries_[kWays << kSetBits];
  uint32_t turn_;
};

}  // namespace xsigma::profiler::instrument
