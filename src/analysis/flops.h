// How many floating-point operations a call takes, from its name and the shapes of its inputs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "xsigma/profiler/record.h"

namespace xsigma::profiler::analysis {

// 0 where there is no formula, or the inputs do not fit it. Names are torch's, with or without "aten::".
uint64_t flopsOf(std::string_view name, const std::vector<RecordedInput>& inputs);

}  // namespace xsigma::profiler::analysis
