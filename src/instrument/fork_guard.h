// What fork() leaves in the child: nothing that belongs to the parent.
#pragma once

namespace xsigma::profiler::instrument {

// Once per process, before there is anything to protect.
void watchForks() noexcept;

}  // namespace xsigma::profiler::instrument
