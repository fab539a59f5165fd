// What a memory profile says, in a form that tests can compare.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "xsigma/profiler/memory.h"

namespace xsigma::profiler::test {

using Texts = std::vector<std::string>;
using Numbers = std::vector<uint64_t>;

// After each event.
inline Numbers totals(const MemoryDevice& device) {
  Numbers all;
  for (const MemoryEvent& event : device.events) all.push_back(event.allocated);
  return all;
}

// "outer > inner: BYTES in BLOCKS"
inline Texts holders(const MemoryProfile& profile, const std::vector<MemoryHolder>& held) {
  Texts all;
  for (const MemoryHolder& each : held) {
    all.push_back(profile.path(each.scope) + ": " + std::to_string(each.bytes) + " in " + std::to_string(each.blocks));
  }
  return all;
}

}  // namespace xsigma::profiler::test
