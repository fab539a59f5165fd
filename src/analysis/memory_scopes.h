// ScopePaths: the ways of scopes in which memory events happened, each once, and the categories that guards among them give.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/memory_events.h"
#include "xsigma/profiler/memory_profile.h"

namespace xsigma::profiler::analysis {

class ScopePaths {
 public:
  static constexpr uint8_t kNoCategory = UINT8_MAX;

  struct Place {
    uint32_t scope = kUnknown;
    uint32_t innermost = kNoSlice;   // the slice of the innermost scope that is no guard
    uint8_t category = kNoCategory;  // of the innermost guard
  };

  explicit ScopePaths(const MemoryEvents& events);

  // Of what happened in this slice, or in none.
  Place within(uint32_t slice);
  std::vector<MemoryScope> take() { return std::move(scopes_); }

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;
  struct Text {
    std::string_view text;
    uint8_t category = kNoCategory;
  };

  uint32_t textOf(uint32_t name);
  Place inside(const Place& around, uint32_t slice);

  const MemoryEvents& events_;
  std::vector<Place> places_;  // of each slice, once it was asked for
  std::vector<MemoryScope> scopes_;
  std::vector<Text> texts_;
  std::unordered_map<uint32_t, uint32_t> text_of_name_;
  std::unordered_map<std::string_view, uint32_t> text_ids_;
  std::unordered_map<uint64_t, uint32_t> children_;  // scope and text
  std::vector<uint32_t> chain_;
};

}  // namespace xsigma::profiler::analysis
