// Scopes that user callbacks watch: a RecordFunction stands behind the macro.
#pragma once

#include <cstdint>

#include "instrument/thread_slot.h"
#include "xsigma/profiler/scope.h"

namespace xsigma::profiler::instrument {

// The slot is busy and settled; it has been left on return.
detail::ScopeToken beginObserved(ThreadSlot& slot, const char* name, uint32_t head, RecordScope scope) noexcept;
// What the token has in the place of its ticks.
void endObserved(uint64_t frame) noexcept;

}  // namespace xsigma::profiler::instrument
