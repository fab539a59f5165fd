// Durations: those of many calls, and what can be said of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "xsigma/profiler/key_averages.h"

namespace xsigma::profiler::analysis {

// Kept in blocks: what is there is never moved, and few calls take little room.
class Durations {
 public:
  void add(int64_t ns) {
    if (next_ == end_) [[unlikely]]
      grow();
    *next_++ = std::max<int64_t>(ns, 0);
  }
  // Exact; linear in their number.
  Statistics statistics() const;

 private:
  struct Block {
    std::unique_ptr<int64_t[]> values;
    size_t size;
  };

  void grow();
  template <typename Visit>
  void forEach(Visit visit) const;

  int64_t* next_ = nullptr;
  int64_t* end_ = nullptr;
  std::vector<Block> blocks_;
};

}  // namespace xsigma::profiler::analysis
