// The expensive half of an asymmetric fence: writers pay a plain store, whoever needs to know pays this.
#pragma once

namespace xsigma::profiler::base {

// Registers the process once. False where the kernel has no expedited membarrier: then writers must fence themselves.
bool processBarrierAvailable() noexcept;

// On return every other thread of the process has executed a full memory barrier since the call.
void processBarrier() noexcept;

}  // namespace xsigma::profiler::base
