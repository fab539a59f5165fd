#include "instrument/callback_list.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/arena.h"

namespace xsigma::profiler::instrument {
namespace {

template <typename T>
bool reserveForever(T*& array, uint32_t& capacity, uint32_t count) noexcept {
  if (count <= capacity) return true;
  const uint32_t larger = std::max(8u, count * 2);
  auto* const copy = static_cast<T*>(base::allocateForever(larger * sizeof(T)));
  if (copy == nullptr) return false;
  if (array != nullptr) std::memcpy(static_cast<void*>(copy), array, capacity * sizeof(T));
  array = copy;
  capacity = larger;
  return true;
}

}  // namespace

bool CallbackList::add(CallbackEntry* entry) noexcept {
  if (!reserveForever(entries, capacity, count + 1)) return false;
  entries[count++] = entry;
  return true;
}

void CallbackList::removeAt(uint32_t index) noexcept {
  std::copy(entries + index + 1, entries + count, entries + index);
  --count;
}

uint32_t CallbackList::find(CallbackHandle handle) const noexcept {
  uint32_t index = 0;
  while (index < count && entries[index]->handle.load(std::memory_order_relaxed) != handle) ++index;
  return index;
}

bool CallbackList::anyEnabled() const noexcept {
  return std::any_of(entries, entries + count, [](const CallbackEntry* entry) { return entry->enabled; });
}

void CallbackSteps::rebuild(const CallbackList& global, const CallbackList& local) noexcept {
  count = 0;
  scopes = 0;
  if (!reserveForever(steps, capacity, global.count + local.count)) return;
  append(global);
  append(local);
}

void CallbackSteps::append(const CallbackList& list) noexcept {
  for (uint32_t i = 0; i < list.count; ++i) {
    CallbackEntry* const entry = list.entries[i];
    const RecordFunctionCallback& callback = entry->callback;
    if (!entry->enabled || callback.samplingProb() <= 0.0) continue;
    CallbackStep& step = steps[count++];
    step = {entry,
            entry->handle.load(std::memory_order_relaxed),
            callback.start(),
            callback.end(),
            0,
            callback.needsInputs(),
            callback.needsOutputs(),
            callback.needsIds(),
            callback.samplingProb(),
            {}};
    for (size_t scope = 0; scope < kNumRecordScopes; ++scope) {
      if (!callback.checkScope(static_cast<RecordScope>(scope))) continue;
      step.scopes = static_cast<uint16_t>(step.scopes | 1u << scope);
      if (step.probability < 1.0) step.countdown[scope] = drawCountdown(step.probability);
    }
    scopes = static_cast<uint16_t>(scopes | step.scopes);
  }
}

bool CallbackSteps::dueSampled(CallbackStep& step, RecordScope scope) noexcept {
  uint32_t& countdown = step.countdown[static_cast<size_t>(scope)];
  if (--countdown != 0) return false;
  countdown = drawCountdown(step.probability);
  return true;
}

// Ranges until the next success of a coin with this probability: geometric, at least 1.
uint32_t CallbackSteps::drawCountdown(double probability) noexcept {
  random ^= random >> 12;
  random ^= random << 25;
  random ^= random >> 27;
  const double uniform = static_cast<double>((random * 0x2545F4914F6CDD1Du >> 11) + 1) * 0x1.0p-53;
  const double tries = std::floor(std::log(uniform) / std::log1p(-probability)) + 1;
  return tries >= 4e9 ? 4'000'000'000u : static_cast<uint32_t>(std::max(tries, 1.0));
}

}  // namespace xsigma::profiler::instrument
