// Durations: those of many calls, and what can be said of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "xsigma/profiler/key_averages.h"

namespace xsigma::profiler::analysis {

// Kept in blocks: what is there is never moved, and few calls take little room. Few last longer than what 32 bits can say, 4.3 s: those are kept apart.
class Durations {
 public:
  void add(int64_t ns) {
    if (ns > static_cast<int64_t>(UINT32_MAX)) [[unlikely]] return long_.push_back(ns);
    if (next_ == end_) [[unlikely]] grow();
    *next_++ = static_cast<uint32_t>(std::max<int64_t>(ns, 0));
  }
  size_t size() const;
  // Exact; linear in their number.
  Statistics statistics() const;

 private:
  struct Block {
    std::unique_ptr<uint32_t[]> values;
    size_t size;
  };

  void grow();
  template <typename Visit>
  void forEach(Visit visit) const;

  uint32_t* next_ = nullptr;
  uint32_t* end_ = nullptr;
  std::vector<Block> blocks_;
  std::vector<int64_t> long_;
};

}  // namespace xsigma::profiler::analysis
