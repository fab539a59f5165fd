// The pieces that plain scopes and RecordFunction share on their way into the writers.
#pragma once

#include <cstdint>
#include <string_view>

#include "instrument/process_state.h"
#include "instrument/thread_slot.h"
#include "xsigma/profiler/scope.h"

namespace xsigma::profiler::instrument {

// A token's reference: the head of the end record, with the bits of the sessions that had no room above its code; the epoch of the begin in
// the high half; on top, whether the end must take the general way. A scope that callbacks watch has nothing but that bit, and its frame in
// the place of the ticks.
inline constexpr uint64_t kGeneralEnd = uint64_t{1} << 63;
inline constexpr uint32_t kDroppedShift = 4;
static_assert(static_cast<uint32_t>(capture::Code::end) < 1u << kDroppedShift);
// From the head of a begin record to that of its end.
inline constexpr uint32_t kBeginToEnd = static_cast<uint32_t>(capture::Code::end) - static_cast<uint32_t>(capture::Code::begin);
constexpr uint64_t tokenReference(uint32_t begin_head, uint64_t epoch_high) noexcept {
  return epoch_high + begin_head + kBeginToEnd;  // no two bits meet
}
constexpr uint32_t tokenSite(uint64_t reference) noexcept { return static_cast<uint32_t>(reference) >> 8; }
constexpr uint32_t tokenEpoch(uint64_t reference) noexcept { return epochOf(reference & ~kGeneralEnd); }
constexpr uint8_t tokenDropped(uint64_t reference) noexcept { return static_cast<uint8_t>(reference >> kDroppedShift & kSessionBits); }
constexpr uint64_t droppedBits(uint8_t dropped) noexcept { return static_cast<uint64_t>(dropped) << kDroppedShift; }

// The slot is busy and settled in all of these.
// The head of the begin record of a name; the interned, zero-terminated name through `copy`. 0 if the name tables are full.
uint32_t headFor(ThreadSlot& slot, std::string_view name, RecordScope scope, const char** copy) noexcept;
// Ends a scope in every capture that saw it begin. Bits in `dropped` name the sessions that did not.
void endInWriters(ThreadSlot& slot, uint32_t site, uint32_t begin_epoch, uint8_t dropped, uint64_t begin_ticks, uint64_t ticks) noexcept;

// Applies `act(writer, index)` to the writers that scopes of this thread feed.
template <typename Act>
void forEachRecording(ThreadSlot& slot, Act act) noexcept {
  for (uint32_t left = slot.recording; left != 0; left &= left - 1) {
    const auto index = static_cast<uint32_t>(__builtin_ctz(left));
    act(slot.writerOf(index), index);
  }
}

}  // namespace xsigma::profiler::instrument
