// NameTable: every string and every place in the source that the process has recorded, copied at first sight and never forgotten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "xsigma/profiler/record_scope.h"

namespace xsigma::profiler::capture {

// A name with its kind and, for a macro, its place in the source. Strings by id; id 0 is the empty string.
struct Site {
  uint32_t name = 0;
  uint32_t file = 0;
  uint32_t line = 0;
  RecordScope scope = RecordScope::FUNCTION;
};

// One caller at a time (the registry's lock); no malloc. What it hands out stays valid for the life of the process.
class NameTable {
 public:
  static constexpr uint32_t kOverflow = 0;  // no room for another one

  uint32_t internString(std::string_view text) noexcept;
  // Ids count from 1. kOverflow if 2^22 sites are there already.
  uint32_t internSite(std::string_view name, std::string_view file, uint32_t line, RecordScope scope) noexcept;

  std::string_view string(uint32_t id) const noexcept;
  const Site& site(uint32_t id) const noexcept { return sites_[id].site; }

  // Which captures have an entry: each has a place among kCaptures and a number that no other capture in that place had. True the first time.
  static constexpr uint32_t kCaptures = 4;
  bool markStringWritten(uint32_t id, uint32_t place, uint32_t number) noexcept { return mark(strings_[id].written[place], number); }
  bool markSiteWritten(uint32_t id, uint32_t place, uint32_t number) noexcept { return mark(sites_[id].written[place], number); }
  uint32_t stringCount() const noexcept { return string_count_; }
  uint32_t siteCount() const noexcept { return site_count_; }

 private:
  struct Text {
    const char* bytes;
    uint32_t size;
    uint32_t hash;
    uint32_t written[kCaptures];
  };
  struct SiteEntry {
    Site site;
    uint32_t written[kCaptures];
  };
  // An open-addressing set of ids, half full at most.
  struct Index {
    uint32_t* slots = nullptr;
    uint32_t capacity = 0;
  };

  template <typename HashOf>
  static bool reserve(Index& index, uint32_t count, HashOf hash_of) noexcept;
  template <typename T>
  static bool reserveArray(T*& array, uint32_t& capacity, uint32_t count) noexcept;
  static uint32_t siteHash(const Site& site) noexcept;
  static bool mark(uint32_t& written, uint32_t number) noexcept { return std::exchange(written, number) != number; }

  Text* strings_ = nullptr;
  uint32_t string_capacity_ = 0;
  uint32_t string_count_ = 0;  // ids 1 … count
  SiteEntry* sites_ = nullptr;
  uint32_t site_capacity_ = 0;
  uint32_t site_count_ = 0;
  Index string_index_;
  Index site_index_;
};

uint32_t hashText(std::string_view text) noexcept;

}  // namespace xsigma::profiler::capture
