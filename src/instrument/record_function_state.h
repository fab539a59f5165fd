// What an active RecordFunction holds, in the bytes it keeps for the library.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "capture/op_codec.h"
#include "instrument/callback_list.h"
#include "instrument/owned_values.h"
#include "instrument/thread_slot.h"
#include "xsigma/profiler/record_function.h"

namespace xsigma::profiler {

namespace instrument {
class BeginExtras;
// From inside a catch block: says once what the callback threw, and where.
void reportCallbackException(CallbackEntry& entry, const char* when, const char* range) noexcept;
}  // namespace instrument

struct RecordFunctionState {
  // A callback whose start has run for this range, and what it left for its end.
  struct Observer {
    instrument::CallbackEntry* entry;
    uint64_t handle;
    RecordFunctionCallback::StartCallback start;
    RecordFunctionCallback::EndCallback end;
    std::unique_ptr<ObserverContext> context;
  };
  static constexpr uint32_t kInlineObservers = 3;

  static RecordFunctionState& of(const RecordFunction& function) noexcept {
    return *reinterpret_cast<RecordFunctionState*>(const_cast<unsigned char*>(function.state_));  // std::launder would cost registers
  }
  // Makes the state if anybody wants to see the range. The slot is busy and settled.
  static bool create(RecordFunction& function, instrument::ThreadSlot& slot) noexcept;
  // A RecordFunction at `memory` that is active already.
  static RecordFunction* createObserved(void* memory, RecordScope scope, instrument::ThreadSlot& slot) noexcept;
  static void destroyObserved(RecordFunction& function) noexcept;
  static void setScope(RecordFunction& function, RecordScope scope) noexcept { function.scope_ = scope; }

  ~RecordFunctionState() {
    for (uint32_t i = 0; i < observer_count && i < kInlineObservers; ++i) inlineObservers()[i].~Observer();
  }

  // Takes over those callbacks that are due for this range. The slot is busy.
  void pickObservers(instrument::ThreadSlot& slot, RecordScope scope) noexcept;
  // Runs start callbacks, records the begin. The slot is busy and settled; it has been left on return. The name is interned.
  void begin(RecordFunction& function, instrument::ThreadSlot& slot, const char* name, uint32_t head) noexcept;
  // Details first, the begin last, one commit for all: the range is whole or absent. Leaves the slot.
  void recordBegin(instrument::ThreadSlot& slot, RecordScope scope) noexcept;
  // Records the end, runs end callbacks: once.
  void end(RecordFunction& function) noexcept;

  Observer& observer(uint32_t i) noexcept { return i < kInlineObservers ? inlineObservers()[i] : (*more_observers)[i - kInlineObservers]; }
  Observer* inlineObservers() noexcept { return reinterpret_cast<Observer*>(observer_bytes); }

  capture::OpDetails details;
  const char* name = "";
  uint64_t thread_id = 0;
  uint64_t handle = 0;
  uint64_t begin_ticks = 0;
  uint64_t ids[instrument::kMaxSessions];  // in each capture
  std::unique_ptr<instrument::OwnedValues> outputs;
  std::unique_ptr<std::vector<Observer>> more_observers;
  uint32_t head = 0;
  uint32_t begin_epoch = 0;
  uint32_t observer_count = 0;
  uint8_t dropped = 0;  // bits of the sessions that had no room for the begin
  bool begun = false;
  bool recorded = false;
  bool needs_inputs = false;
  bool needs_outputs = false;
  bool needs_ids = false;
  bool static_runtime_out_variant = false;
  alignas(Observer) unsigned char observer_bytes[kInlineObservers * sizeof(Observer)];

 private:
  void runStartCallbacks(RecordFunction& function) noexcept;
  void recordDetailed(instrument::ThreadSlot& slot, RecordScope scope) noexcept;
  void putBegin(capture::Writer& writer, uint32_t index, const instrument::BeginExtras* extras) noexcept;
  void recordEnd() noexcept;
};

}  // namespace xsigma::profiler
