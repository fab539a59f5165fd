// A row of the averages in words.
#pragma once

#include <string>
#include <string_view>

#include "xsigma/profiler/key_averages.h"

namespace xsigma::profiler::test {

inline std::string timesOf(const KeyAverages& averages, std::string_view name) {
  const KeyAverage& row = averages.at(name);
  return "calls " + std::to_string(row.calls) + " self " + std::to_string(row.self_cpu_ns) + " total " + std::to_string(row.cpu_total_ns) +
         " mean " + std::to_string(static_cast<int64_t>(row.durations.mean));
}

}  // namespace xsigma::profiler::test
