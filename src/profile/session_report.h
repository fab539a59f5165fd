// The report of a profiler_session: the table of its scopes, and what else was asked for.
#pragma once

#include <string>

#include "xsigma/profiler/profiler_kineto.h"
#include "xsigma/profiler/profiler_session.h"

namespace xsigma::profiler::profile {

std::string sessionReport(const ProfilerResult& result, const profiler_session_options& options);

}  // namespace xsigma::profiler::profile
