#include "assemble/details.h"

#include <algorithm>
#include <cstring>

#include "assemble/batch_memory.h"
#include "base/json_text.h"
#include "capture/mark_codec.h"
#include "capture/op_codec.h"

namespace xsigma::profiler::assemble {

using capture::Code;
using capture::RawRecord;

namespace {

PackedInputs packedInputs(const RawRecord& record) {
  constexpr uint32_t kHead = 3;  // about the list, and the scope's id
  PackedInputs inputs;
  const uint32_t head = record.word(0);
  inputs.count = head >> 16;
  inputs.cut = (head >> 8 & 1) != 0;
  inputs.keywords = static_cast<InputRole>(head & 0xFF) == InputRole::keyword_inputs;
  inputs.words = record.payload() + kHead;
  inputs.size = record.payloadWords() > kHead ? record.payloadWords() - kHead : 0;
  return inputs;
}

void takeInputs(const RawRecord& record, EventDetails& details) {
  const PackedInputs inputs = packedInputs(record);
  switch (static_cast<InputRole>(record.word(0) & 0xFF)) {
    case InputRole::inputs: details.inputs = inputs; break;
    case InputRole::keyword_inputs: details.keyword_inputs = inputs; break;
    case InputRole::outputs: details.outputs = inputs; break;
  }
}

void takeMemory(const RawRecord& record, EventDetails& details) {
  details.address = record.wide(0);
  details.bytes = static_cast<int64_t>(record.wide(2));
  details.total_allocated = record.wide(4);
  details.total_reserved = record.wide(6);
  details.device = {static_cast<DeviceType>(record.word(8)), static_cast<int>(record.word(9))};
}

void takeGiven(const RawRecord& record, EventDetails& details) {
  details.linked_id = record.wide(capture::kGivenLinked);
  details.flow_id = record.word(capture::kGivenFlow);
  details.flow_type = static_cast<uint8_t>(record.word(capture::kGivenFlowType));
  details.flow_start = (record.word(capture::kGivenFlowType) >> 8 & 1) != 0;
  const std::string_view json = record.text(capture::kGivenMetadata);
  if (!json.empty() && base::isJsonMembers(json)) details.metadata_json = json;
}

void takeCounters(const RawRecord& begin, const RawRecord& end, EventBatch& batch, EventDetails& details) {
  const uint32_t count = std::min(begin.payloadWords(), end.payloadWords()) / 2;
  uint64_t* const values = batch.memory->take(count);
  for (uint32_t i = 0; i < count; ++i) values[i] = end.wide(2 * i) - begin.wide(2 * i);
  details.perf = values;
  details.perf_count = count;
}

// Room for as many as there are from here on.
EventDetails::Metadata* metadataRoom(EventBatch& batch, const uint32_t* words, size_t count) {
  static_assert(sizeof(EventDetails::Metadata) % sizeof(uint64_t) == 0);
  size_t metadata_count = 0;
  for (size_t at = 0; at < count; at += capture::headUnits(words[at])) metadata_count += capture::headCode(words[at]) == Code::metadata;
  return reinterpret_cast<EventDetails::Metadata*>(batch.memory->take(metadata_count * sizeof(EventDetails::Metadata) / sizeof(uint64_t)));
}

EventDetails& newDetails(EventBatch& batch, TraceEvent& event) {
  event.details = static_cast<uint32_t>(batch.all_details.size());
  return batch.all_details.emplace_back();
}

}  // namespace

EventDetails& detailsOf(EventBatch& batch, TraceEvent& event) {
  return event.details == kNoDetails ? newDetails(batch, event) : batch.all_details[event.details];
}

void attachDetails(EventBatch& batch, TraceEvent& event, const uint32_t* words, size_t count) {
  if (count == 0) return;
  EventDetails& details = newDetails(batch, event);
  const uint32_t* const copy = batch.memory->copy(words, count);
  EventDetails::Metadata* metadata = nullptr;
  RawRecord counters;
  for (size_t at = 0; at < count; at += capture::headUnits(copy[at])) {
    const RawRecord record{copy + at, capture::headUnits(copy[at]), 0};
    switch (record.code()) {
      case Code::op_info:
        details.sequence_number = static_cast<int64_t>(record.wide(0));
        details.debug_handle = static_cast<int64_t>(record.wide(2));
        details.forward_thread = record.word(6);
        break;
      case Code::inputs: takeInputs(record, details); break;
      case Code::stack: details.stack = record.word(0); break;
      case Code::perf:
        if (counters.words != nullptr) takeCounters(counters, record, batch, details);
        counters = record;
        break;
      case Code::metadata:
        if (metadata == nullptr) details.metadata = metadata = metadataRoom(batch, copy + at, count - at);
        new (&metadata[details.metadata_count++]) EventDetails::Metadata{record.word(0), record.text(1)};
        break;
      default: break;
    }
  }
}

void attachOwnDetails(EventBatch& batch, TraceEvent& event, const RawRecord& record) {
  EventDetails& details = newDetails(batch, event);
  switch (record.code()) {
    case Code::counter: {
      const uint64_t bits = record.wide(1);
      std::memcpy(&details.value, &bits, sizeof bits);
      break;
    }
    case Code::memory:
    case Code::out_of_memory: takeMemory(record, details); break;
    case Code::given_event: {
      const RawRecord kept{batch.memory->copy(record.words, record.size), record.size, record.ticks};
      takeGiven(kept, details);
      break;
    }
    default: break;
  }
}

}  // namespace xsigma::profiler::assemble
