// The file of a cycle: later cycles never overwrite earlier ones.
#pragma once

#include <cstdint>
#include <string>

namespace xsigma::profiler::profile {

// {cycle} and {step} replaced. Without either, cycles after the first have their number before the ending (.json.gz is one ending).
std::string cyclePath(std::string path, int64_t cycle, int64_t step);

}  // namespace xsigma::profiler::profile
