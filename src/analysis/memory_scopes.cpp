#include "analysis/memory_scopes.h"

namespace xsigma::profiler::analysis {
namespace {

uint8_t categoryOf(std::string_view text) {
  constexpr std::string_view kPrefix = kMemoryCategoryScope;
  if (text.substr(0, kPrefix.size()) != kPrefix) return ScopePaths::kNoCategory;
  for (uint8_t i = 0; i < kMemoryCategories; ++i) {
    if (text.substr(kPrefix.size()) == toString(static_cast<MemoryCategory>(i))) return i;
  }
  return ScopePaths::kNoCategory;
}

}  // namespace

ScopePaths::ScopePaths(const MemoryEvents& events) : events_(events), places_(events.slices().size()) { scopes_.push_back({"", 0, 0}); }

ScopePaths::Place ScopePaths::within(uint32_t slice) {
  chain_.clear();
  for (; slice != kNoSlice && places_[slice].scope == kUnknown; slice = events_.slices()[slice].parent) chain_.push_back(slice);
  Place place = slice != kNoSlice ? places_[slice] : Place{0, kNoSlice, kNoCategory};
  for (; !chain_.empty(); chain_.pop_back()) place = places_[chain_.back()] = inside(place, chain_.back());
  return place;
}

ScopePaths::Place ScopePaths::inside(const Place& around, uint32_t slice) {
  const uint32_t text = textOf(events_.slices()[slice].name);
  if (texts_[text].category != kNoCategory) return {around.scope, around.innermost, texts_[text].category};
  const auto [child, fresh] = children_.try_emplace(uint64_t{around.scope} << 32 | text, static_cast<uint32_t>(scopes_.size()));
  if (fresh) scopes_.push_back({std::string(texts_[text].text), around.scope, scopes_[around.scope].depth + 1});
  return {child->second, slice, around.category};
}

// Scopes of one name are one, wherever they stand in the source.
uint32_t ScopePaths::textOf(uint32_t name) {
  const auto [known, fresh] = text_of_name_.try_emplace(name, 0);
  if (!fresh) return known->second;
  const std::string_view text = events_.trace().name(name).text;
  const auto [id, fresh_text] = text_ids_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
  if (fresh_text) texts_.push_back({text, categoryOf(text)});
  return known->second = id->second;
}

}  // namespace xsigma::profiler::analysis
