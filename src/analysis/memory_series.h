// MemorySeries: the course of memory as rows that can be drawn, few enough to draw.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "xsigma/profiler/memory_profile.h"

namespace xsigma::profiler::analysis {

inline constexpr size_t kMostRows = 2000;
inline constexpr size_t kMostScopes = 10;

// What is stacked on what, from below: as torch does it.
inline constexpr std::array<MemoryCategory, kMemoryCategories> kStackOrder = {
    MemoryCategory::parameter,  MemoryCategory::optimizer_state, MemoryCategory::input,           MemoryCategory::temporary,
    MemoryCategory::activation, MemoryCategory::gradient,        MemoryCategory::autograd_detail, MemoryCategory::unknown};

struct MemorySeries {
  struct Row {
    int64_t time_ns = 0;
    std::array<uint64_t, kMemoryCategories> by_category{};  // in kStackOrder
    std::array<uint64_t, kMostScopes + 1> by_scope{};       // as `scopes`; the last are all others
  };
  std::vector<Row> rows;         // each holds until the next; the first is the start of the recording, the last its end
  std::vector<uint32_t> scopes;  // those that ever held most, the largest first
  bool has_others = false;
  bool sampled = false;  // there were more events than rows: each stretch of time has its maximum and its end
};

MemorySeries seriesOf(const MemoryProfile& profile, const MemoryDevice& device, size_t most_rows = kMostRows);

}  // namespace xsigma::profiler::analysis
