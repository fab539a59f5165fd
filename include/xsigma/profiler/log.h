// Where the library's own warnings go: stderr, or a sink of yours.
#pragma once

#include "xsigma/profiler/export.h"

namespace xsigma::profiler {

enum class LogLevel : int { verbose = -1, info = 0, warning = 1, error = 2 };

// Called from whatever thread has something to say, never from a scope's hot path. Must not throw.
using LogSink = void (*)(LogLevel level, const char* message);

// Replaces the sink; null restores the default, which writes to stderr what KINETO_LOG_LEVEL (default 1, warnings) lets through.
XSIGMA_PROFILER_API void setLogSink(LogSink sink) noexcept;

}  // namespace xsigma::profiler
