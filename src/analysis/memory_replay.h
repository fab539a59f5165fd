// MemoryReplay: who holds what on a device, as its events pass once more.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "xsigma/profiler/memory_profile.h"

namespace xsigma::profiler::analysis {

class MemoryReplay {
 public:
  MemoryReplay(const MemoryDevice& device, size_t scopes) : device_(device), held_(scopes) {}

  // The next event.
  void step();
  // Everything that is alive now.
  MemoryMoment moment() const;
  const std::array<uint64_t, kMemoryCategories>& byCategory() const { return by_category_; }
  uint64_t heldBy(uint32_t scope) const { return held_[scope].bytes; }
  // All of them, largest first.
  std::vector<MemoryHolder> holders() const;

 private:
  struct Held {
    uint64_t bytes = 0;
    uint64_t blocks = 0;
  };

  const MemoryDevice& device_;
  size_t next_ = 0;
  std::vector<Held> held_;
  std::array<uint64_t, kMemoryCategories> by_category_{};
};

}  // namespace xsigma::profiler::analysis
