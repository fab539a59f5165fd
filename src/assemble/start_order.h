// The order of events by start: linear, however many there are.
#pragma once

#include <cstdint>
#include <vector>

namespace xsigma::profiler::assemble {

// Where an event lies, and what it is sorted by.
struct StartPlace {
  uint64_t start = 0;
  uint32_t batch = 0;
  uint32_t event = 0;
};

// Those of one start stay in their order.
void sortByStart(std::vector<StartPlace>& places);

}  // namespace xsigma::profiler::assemble
