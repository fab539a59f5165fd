// A memory profile as JSON; the shape is in docs/formats.md.
#pragma once

#include <cstdint>

#include "analysis/memory_series.h"
#include "base/output_file.h"
#include "base/text_buffer.h"
#include "xsigma/profiler/memory_profile.h"

namespace xsigma::profiler::analysis {

Status writeMemoryJson(const MemoryProfile& profile, base::OutputFile& file);

// The rows of a picture, each of these a list as long as there are rows.
void appendTimes(base::TextBuffer& out, const MemoryProfile& profile, const MemorySeries& series);
void appendCategorySizes(base::TextBuffer& out, const MemorySeries& series);
void appendScopeSizes(base::TextBuffer& out, const MemorySeries& series);
// Since the start of the recording, with three decimals.
void appendMicroseconds(base::TextBuffer& out, const MemoryProfile& profile, int64_t time_ns);

}  // namespace xsigma::profiler::analysis
