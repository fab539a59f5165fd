// Floating-point operations: how many a call takes, worked out from its name and the shapes of its inputs. Users add their own formulas.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "xsigma/profiler/export.h"
#include "xsigma/profiler/record.h"

namespace xsigma::profiler {

// 0 where the inputs do not fit.
using FlopsFormula = std::function<uint64_t(const std::vector<RecordedInput>& inputs)>;

// Scopes called `name` whose shapes were recorded are counted by this formula from now on, in sessions with with_flops and in recordings by hand; a second one replaces the first, an empty one removes it.
// A leading "aten::" is ignored here and when names are looked up. Known from the start: mm, addmm, bmm, baddbmm, conv2d, add, mul.
// The formula runs on whichever thread asks for events or tables, several at once; if it throws, the call counts 0.
XSIGMA_PROFILER_API void registerFlops(std::string_view name, FlopsFormula formula);

// 0 without a formula, or where the inputs do not fit it.
XSIGMA_PROFILER_API uint64_t flopsOf(std::string_view name, const std::vector<RecordedInput>& inputs);

}  // namespace xsigma::profiler
