#include "xsigma/profiler/record_function.h"

#include <fmt/format.h>

#include <cstring>

#include "instrument/process_state.h"
#include "instrument/record_function_state.h"
#include "instrument/scope_entry.h"
#include "instrument/thread_registry.h"

namespace xsigma::profiler {

using instrument::enterSettled;
using instrument::gate;
using instrument::process;
using instrument::ThreadSlot;

namespace {

constexpr std::string_view kParamCommsCallName = "record_param_comms";

const KeywordList& noKeywords() {
  static const KeywordList& none = *new KeywordList;  // outlives static destructors
  return none;
}

}  // namespace

void RecordFunction::activate() noexcept {
  static_assert(sizeof(RecordFunctionState) <= sizeof(state_) && alignof(RecordFunctionState) <= 8);
  ThreadSlot* const slot = enterSettled();
  if (slot == nullptr) return;
  if (slot->enabled) active_ = RecordFunctionState::create(*this, *slot);
  slot->leave();
}

void RecordFunction::finish() noexcept {
  end();
  active_ = false;
  RecordFunctionState::of(*this).~RecordFunctionState();
}

bool RecordFunction::needsInputs() const noexcept { return active_ && RecordFunctionState::of(*this).needs_inputs; }
bool RecordFunction::needsOutputs() const noexcept { return active_ && RecordFunctionState::of(*this).needs_outputs; }

void RecordFunction::before(std::string_view name, int64_t sequence_nr) noexcept { before(name, InputList(), noKeywords(), sequence_nr); }
void RecordFunction::before(std::string_view name, InputList inputs, int64_t sequence_nr) noexcept {
  before(name, inputs, noKeywords(), sequence_nr);
}
void RecordFunction::before(std::string_view name, const KeywordList& kwinputs, int64_t sequence_nr) noexcept {
  before(name, InputList(), kwinputs, sequence_nr);
}

void RecordFunction::before(std::string_view name, InputList inputs, const KeywordList& kwinputs, int64_t sequence_nr) noexcept {
  if (!active_) return;
  RecordFunctionState& state = RecordFunctionState::of(*this);
  if (state.begun) return;
  state.details.inputs = inputs;
  state.details.keyword_inputs = &kwinputs;
  state.details.sequence_number = sequence_nr;
  ThreadSlot* const slot = enterSettled();
  if (slot != nullptr) {
    const char* copy = "";
    const uint32_t head = instrument::headFor(*slot, name, scope_, &copy);
    state.begin(*this, *slot, copy, head);
  }
  state.details.inputs = {};
  state.details.keyword_inputs = nullptr;
}

void RecordFunction::end() noexcept {
  if (!active_) return;
  RecordFunctionState::of(*this).end(*this);
}

void RecordFunction::setOutputs(InputList outputs) {
  if (!active_) return;
  RecordFunctionState& state = RecordFunctionState::of(*this);
  if (state.observer_count != 0) state.outputs = std::make_unique<instrument::OwnedValues>(outputs);
  if (!state.recorded) return;
  ThreadSlot* const slot = enterSettled(false);
  if (slot == nullptr) return;
  const uint64_t now = slot->beginTicks();
  instrument::forEachRecording(*slot, [&](capture::Writer& writer, uint32_t index) {
    if (!writer.sink()->recordsInputs() || writer.sinceEpoch() > state.begin_epoch || (state.dropped >> index & 1) != 0) return;
    const uint32_t most = writer.sink()->maxRecordWords();
    if (!writer.ensure(capture::mostOutputWords(outputs, most), now)) return writer.countExtraDrop();
    writer.commit(capture::putOutputs(outputs, state.ids[index], most, writer.delta(now), writer.next()), 0);
  });
  slot->leave();
}

const char* RecordFunction::name() const noexcept { return active_ ? RecordFunctionState::of(*this).name : ""; }
int64_t RecordFunction::seqNr() const noexcept { return active_ ? RecordFunctionState::of(*this).details.sequence_number : -1; }
InputList RecordFunction::inputs() const noexcept { return active_ ? RecordFunctionState::of(*this).details.inputs : InputList(); }
const KeywordList& RecordFunction::kwinputs() const noexcept {
  const KeywordList* const given = active_ ? RecordFunctionState::of(*this).details.keyword_inputs : nullptr;
  return given != nullptr ? *given : noKeywords();
}
InputList RecordFunction::outputs() const noexcept {
  const instrument::OwnedValues* const given = active_ ? RecordFunctionState::of(*this).outputs.get() : nullptr;
  return given != nullptr ? given->values() : InputList();
}
uint64_t RecordFunction::threadId() const noexcept { return active_ ? RecordFunctionState::of(*this).thread_id : 0; }
uint64_t RecordFunction::forwardThreadId() const noexcept { return active_ ? RecordFunctionState::of(*this).details.forward_thread : 0; }
void RecordFunction::setForwardThreadId(uint64_t thread_id) noexcept {
  if (active_) RecordFunctionState::of(*this).details.forward_thread = thread_id;
}
uint64_t RecordFunction::handle() const noexcept { return active_ ? RecordFunctionState::of(*this).handle : 0; }
void RecordFunction::setHandle(uint64_t handle) noexcept {
  if (active_) RecordFunctionState::of(*this).handle = handle;
}
uint64_t RecordFunction::beginTicks() const noexcept {
  return active_ && RecordFunctionState::of(*this).recorded ? RecordFunctionState::of(*this).begin_ticks : 0;
}
int64_t RecordFunction::debugHandle() const noexcept { return active_ ? RecordFunctionState::of(*this).details.debug_handle : -1; }
void RecordFunction::setDebugHandle(int64_t debug_handle) noexcept {
  if (active_) RecordFunctionState::of(*this).details.debug_handle = debug_handle;
}
void RecordFunction::_setAsync() noexcept {
  if (active_) RecordFunctionState::of(*this).details.async = true;
}
bool RecordFunction::isAsync() const noexcept { return active_ && RecordFunctionState::of(*this).details.async; }
void RecordFunction::_setStaticRuntimeOutVariant() noexcept {
  if (active_) RecordFunctionState::of(*this).static_runtime_out_variant = true;
}
bool RecordFunction::isStaticRuntimeOutVariant() const noexcept {
  return active_ && RecordFunctionState::of(*this).static_runtime_out_variant;
}
bool RecordFunction::isNcclMeta() const noexcept { return name() == kParamCommsCallName; }

uint64_t RecordFunction::currentThreadId() noexcept {
  const ThreadSlot* const slot = instrument::attachThread();
  return slot != nullptr ? slot->logical_id : 0;
}

void RecordFunction::setDefaultNodeId(int64_t node_id) {
  if (node_id < 0) throw ProfilerError(fmt::format("setDefaultNodeId({}): a node id counts from 0. Pass the rank of this process", node_id));
  process.node_id.store(node_id, std::memory_order_relaxed);
}
int64_t RecordFunction::getDefaultNodeId() noexcept { return process.node_id.load(std::memory_order_relaxed); }

uint64_t peekSequenceNr() noexcept {
  const ThreadSlot* const slot = instrument::attachThread();
  return slot != nullptr ? slot->sequence_number : 0;
}
uint64_t nextSequenceNr() noexcept {
  ThreadSlot* const slot = instrument::attachThread();
  return slot != nullptr ? slot->sequence_number++ : 0;
}

namespace detail {

void ScopedRecordFunction::enter() noexcept {
  enclosing_ = gate.slot->innermost;
  gate.slot->innermost = this;
}

void ScopedRecordFunction::leave() noexcept {
  if (gate.slot != nullptr && gate.slot->innermost == this) gate.slot->innermost = enclosing_;
}

void ScopedRecordFunction::setInnermostOutputs(InputList outputs) {
  ScopedRecordFunction* const innermost = gate.slot != nullptr ? gate.slot->innermost : nullptr;
  if (innermost != nullptr && innermost->needsOutputs()) innermost->setOutputs(outputs);
}

}  // namespace detail
}  // namespace xsigma::profiler
