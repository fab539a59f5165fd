// Whether the process is on its way out. Libraries that it uses end at a moment that nobody tells: from then on they are called only if somebody asks.
#pragma once

namespace xsigma::profiler::base {

// From now on it is watched for.
void watchProcessExit();
bool processExits() noexcept;

}  // namespace xsigma::profiler::base
