// ParentStack: finds the scope around each event of a row, whose events come by start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace xsigma::profiler::assemble {

inline constexpr uint32_t kNoParent = UINT32_MAX;

class ParentStack {
 public:
  // The scope around what starts then, so deep; kNoParent if there is none.
  uint32_t around(int64_t start_ns, size_t depth) {
    depth = std::min(depth, stack_.size());
    // What ended on another thread is around nothing that began later, though its own thread did not know.
    while (depth > 0 && (stack_[depth - 1].entry == kNoParent || stack_[depth - 1].end_ns < start_ns)) --depth;
    const uint32_t nested = depth > 0 ? stack_[depth - 1].entry : kNoParent;
    return outliving_.empty() ? nested : innermost(start_ns, nested);
  }

  // It stands around what comes later. Entries rise. One that overlaps outlives the scope around it, and depth does not tell what lies in it then.
  void push(uint32_t entry, size_t depth, int64_t end_ns, bool overlaps) {
    stack_.resize(depth + 1);
    stack_[depth] = {entry, end_ns};
    if (overlaps) outliving_.push_back({entry, end_ns});
  }

 private:
  struct Open {
    uint32_t entry = kNoParent;
    int64_t end_ns = 0;
  };

  // What began last of those that are open.
  uint32_t innermost(int64_t start_ns, uint32_t nested) {
    outliving_.erase(std::remove_if(outliving_.begin(), outliving_.end(), [=](const Open& each) { return each.end_ns <= start_ns; }), outliving_.end());
    if (outliving_.empty()) return nested;
    return nested == kNoParent || outliving_.back().entry > nested ? outliving_.back().entry : nested;
  }

  std::vector<Open> stack_;  // the latest at each depth
  std::vector<Open> outliving_;
};

}  // namespace xsigma::profiler::assemble
