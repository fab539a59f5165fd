#include "capture/name_table.h"

#include <algorithm>
#include <cstring>

#include "base/arena.h"
#include "capture/format.h"

namespace xsigma::profiler::capture {
namespace {

constexpr uint32_t kMaxSiteCount = 1u << 22;
constexpr uint32_t kMaxStringCount = 1u << 23;

uint32_t mix(uint64_t value) noexcept {
  value *= 0x9E3779B97F4A7C15u;
  return static_cast<uint32_t>(value >> 32);
}

}  // namespace

uint32_t hashText(std::string_view text) noexcept {
  uint64_t hash = text.size() * 0x9E3779B97F4A7C15u;
  const char* at = text.data();
  size_t left = text.size();
  while (left >= 8) {
    uint64_t part;
    std::memcpy(&part, at, 8);
    hash = (hash ^ part) * 0xFF51AFD7ED558CCDu;
    hash ^= hash >> 29;
    at += 8;
    left -= 8;
  }
  uint64_t tail = 0;
  if (left != 0) std::memcpy(&tail, at, left);  // an empty view may be null
  hash = (hash ^ tail) * 0xFF51AFD7ED558CCDu;
  return static_cast<uint32_t>(hash >> 32);
}

uint32_t NameTable::siteHash(const Site& site) noexcept {
  return mix((static_cast<uint64_t>(site.name) << 32 | site.file) ^ mix(static_cast<uint64_t>(site.line) << 8 | static_cast<uint8_t>(site.scope)));
}

template <typename HashOf>
bool NameTable::reserve(Index& index, uint32_t count, HashOf hash_of) noexcept {
  if ((count + 1) * 2 <= index.capacity) return true;
  const uint32_t capacity = std::max(1024u, index.capacity * 2);
  auto* const slots = static_cast<uint32_t*>(base::allocateForever(capacity * sizeof(uint32_t)));
  if (slots == nullptr) return false;
  for (uint32_t id = 1; id <= count; ++id) {
    uint32_t at = hash_of(id) & (capacity - 1);
    while (slots[at] != 0) at = (at + 1) & (capacity - 1);
    slots[at] = id;
  }
  index = {slots, capacity};
  return true;
}

template <typename T>
bool NameTable::reserveArray(T*& array, uint32_t& capacity, uint32_t count) noexcept {
  if (count + 2 <= capacity) return true;
  const uint32_t larger = std::max(512u, capacity * 2);
  auto* const copy = static_cast<T*>(base::allocateForever(larger * sizeof(T)));
  if (copy == nullptr) return false;
  if (array != nullptr) std::memcpy(static_cast<void*>(copy), array, (count + 1) * sizeof(T));
  array = copy;
  capacity = larger;
  return true;
}

uint32_t NameTable::internString(std::string_view text) noexcept {
  text = text.substr(0, kMaxStringBytes);
  if (text.empty()) return 0;
  if (string_count_ >= kMaxStringCount || !reserveArray(strings_, string_capacity_, string_count_) ||
      !reserve(string_index_, string_count_, [this](uint32_t id) { return strings_[id].hash; })) {
    return 0;
  }
  const uint32_t hash = hashText(text);
  uint32_t at = hash & (string_index_.capacity - 1);
  for (; string_index_.slots[at] != 0; at = (at + 1) & (string_index_.capacity - 1)) {
    const uint32_t id = string_index_.slots[at];
    if (strings_[id].hash == hash && string(id) == text) return id;
  }
  auto* const copy = static_cast<char*>(base::allocateForever(text.size() + 1, 1));
  if (copy == nullptr) return 0;
  std::memcpy(copy, text.data(), text.size());
  const uint32_t id = ++string_count_;
  strings_[id] = {copy, static_cast<uint32_t>(text.size()), hash, {}};
  string_index_.slots[at] = id;
  return id;
}

std::string_view NameTable::string(uint32_t id) const noexcept {
  if (id == 0) return "";
  return {strings_[id].bytes, strings_[id].size};
}

uint32_t NameTable::internSite(std::string_view name, std::string_view file, uint32_t line, RecordScope scope) noexcept {
  const Site wanted{internString(name), internString(file), line, scope};
  if (site_count_ >= kMaxSiteCount || !reserveArray(sites_, site_capacity_, site_count_) ||
      !reserve(site_index_, site_count_, [this](uint32_t id) { return siteHash(sites_[id].site); })) {
    return kOverflow;
  }
  uint32_t at = siteHash(wanted) & (site_index_.capacity - 1);
  for (; site_index_.slots[at] != 0; at = (at + 1) & (site_index_.capacity - 1)) {
    const Site& known = sites_[site_index_.slots[at]].site;
    if (known.name == wanted.name && known.file == wanted.file && known.line == wanted.line && known.scope == wanted.scope) {
      return site_index_.slots[at];
    }
  }
  const uint32_t id = ++site_count_;
  sites_[id] = {wanted, {}};
  site_index_.slots[at] = id;
  return id;
}

}  // namespace xsigma::profiler::capture
