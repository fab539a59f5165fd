#include "trace/event_args.h"

#include <algorithm>

#include "base/json_text.h"

namespace xsigma::profiler::trace {

using base::appendInteger;
using base::appendQuoted;
using base::PackedIntegers;
using base::PackedValue;
using base::PackedValues;
using base::TextBuffer;
using Kind = InputValue::Kind;

namespace {

constexpr uint32_t kMostListItems = 30;  // longer lists of scalars are not shown
constexpr int kDeepest = 8;

void appendList(TextBuffer& out, const PackedIntegers& values) {
  out += '[';
  for (uint32_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += ", ";
    appendInteger(out, values[i]);
  }
  out += ']';
}

// Goes past the items of a list.
bool skipItems(PackedValues& in, uint32_t items, int depth = 0) {
  PackedValue value;
  for (uint32_t i = 0; i < items; ++i) {
    if (depth > kDeepest || !in.value(value)) return false;
    if (value.kind == Kind::list && !skipItems(in, value.items, depth + 1)) return false;
  }
  return true;
}

// A scalar as text, without quotes around it.
void appendScalar(std::string& out, const PackedValue& value) {
  switch (value.kind) {
    case Kind::boolean: out += value.integer != 0 ? "True" : "False"; break;
    case Kind::integer: appendInteger(out, value.integer); break;
    case Kind::real: {
      std::string number;
      base::appendReal(number, value.real);
      number.erase(std::remove(number.begin(), number.end(), '"'), number.end());
      out += number;
      break;
    }
    case Kind::string: out += value.text; break;
    default: break;
  }
}

// The tensors of a list, each with its sizes or strides.
template <typename Pick>
void appendTensorList(TextBuffer& out, uint32_t count, PackedValues items, Pick pick) {
  out += '[';
  PackedValue item;
  bool first = true;
  for (uint32_t i = 0; i < count && items.value(item); ++i) {
    if (item.kind != Kind::tensor) break;
    if (!first) out += ", ";
    first = false;
    appendList(out, pick(item));
  }
  out += ']';
}

std::string_view typeName(const PackedValue& value, PackedValues items) {
  switch (value.kind) {
    case Kind::tensor: return value.text;
    case Kind::boolean:
    case Kind::integer:
    case Kind::real: return "Scalar";
    case Kind::list: {
      PackedValue first;
      if (value.items == 0 || !items.value(first)) return "ScalarList";
      return first.kind == Kind::tensor ? "TensorList" : first.kind == Kind::list ? "" : "ScalarList";
    }
    default: return "";
  }
}

void appendConcrete(TextBuffer& out, const PackedValue& value, PackedValues items) {
  if (value.kind == Kind::tensor || value.kind == Kind::none) {
    out += "\"\"";
    return;
  }
  std::string text;
  if (value.kind == Kind::list && typeName(value, items) == "ScalarList" && value.items <= kMostListItems) {
    text += '[';
    PackedValue item;
    for (uint32_t i = 0; i < value.items && items.value(item); ++i) {
      if (i != 0) text += ", ";
      appendScalar(text, item);
    }
    text += ']';
  } else if (value.kind != Kind::list) {
    appendScalar(text, value);
  }
  appendQuoted(out, text);
}

// Keys that mean something to readers. A user's key that is one of them, or comes twice, gets a word before it.
constexpr std::string_view kReserved[] = {
    "External id", "Record function id", "Ev Idx",   "Sequence number", "Fwd thread id", "Input Dims",     "Input Strides",
    "Input type",  "Concrete Inputs",    "stream",   "Output Dims",     "Inputs cut",    "Debug handle",   "Call stack",
    "device",      "Module Hierarchy",   "finished", "begin recorded",  "context",       "correlation",    "End thread",
    "CallFrom",
};

class UserKeys {
 public:
  void take(std::string_view key) { used_.push_back(base::quoted(key)); }
  void append(TextBuffer& out, std::string_view key) {
    std::string plain(key);
    std::string shown = base::quoted(plain);  // keys that are no UTF-8 may differ and still become the same text
    while (std::find(std::begin(kReserved), std::end(kReserved), plain) != std::end(kReserved) ||
           std::find(used_.begin(), used_.end(), shown) != used_.end()) {
      plain.insert(0, "user ");
      shown = base::quoted(plain);
    }
    out += ", ";
    out += std::string_view(shown);
    out += ": ";
    used_.push_back(std::move(shown));
  }

 private:
  std::vector<std::string> used_;  // as JSON
};

void appendKeywords(TextBuffer& out, const PackedInputs& inputs, UserKeys& keys) {
  PackedValues in(inputs.words, inputs.size);
  PackedValue key;
  PackedValue value;
  for (uint32_t i = 0; i < inputs.count; ++i) {
    if (!in.value(key) || key.kind != Kind::string || !in.value(value)) return;
    PackedValues items = in;
    if (value.kind == Kind::list && !skipItems(in, value.items)) return;
    keys.append(out, key.text);
    switch (value.kind) {
      case Kind::integer: appendInteger(out, value.integer); break;
      case Kind::real: base::appendReal(out, value.real); break;
      case Kind::boolean: out += std::string_view(value.integer != 0 ? "true" : "false"); break;
      case Kind::string: appendQuoted(out, value.text); break;
      case Kind::tensor: appendList(out, value.sizes); break;
      case Kind::none: out += "\"None\""; break;
      case Kind::list: appendConcrete(out, value, items); break;
    }
  }
}

void appendModules(TextBuffer& out, const Trace& trace, const EventDetails& details) {
  std::string joined;
  for (uint32_t i = 0; i < details.module_count; ++i) {
    if (i != 0) joined += '.';
    joined += trace.name(details.modules[i]).text;
  }
  out += ", \"Module Hierarchy\": ";
  appendQuoted(out, joined);
}

void appendStack(TextBuffer& out, const Trace& trace, uint32_t stack) {
  std::string joined;
  for (const std::string& frame : trace.stack(stack)) {
    if (!joined.empty()) joined += ';';
    joined += frame;
  }
  out += ", \"Call stack\": ";
  appendQuoted(out, joined);
}

}  // namespace

void ArgsText::readValues(const PackedInputs& inputs) {
  values_.clear();
  PackedValues in(inputs.words, inputs.size);
  for (uint32_t i = 0; i < inputs.count; ++i) {
    Value& next = values_.emplace_back();
    if (!in.value(next.value)) return values_.pop_back();
    next.items = in;
    if (next.value.kind == Kind::list && !skipItems(in, next.value.items)) return values_.pop_back();
  }
}

void ArgsText::appendShapes(TextBuffer& out, PackedIntegers PackedValue::*field) const {
  out += '[';
  for (const Value& each : values_) {
    if (&each != values_.data()) out += ", ";
    if (each.value.kind == Kind::tensor) {
      appendList(out, each.value.*field);
    } else if (each.value.kind == Kind::list && typeName(each.value, each.items) == "TensorList") {
      appendTensorList(out, each.value.items, each.items, [field](const PackedValue& tensor) { return tensor.*field; });
    } else {
      out += "[]";
    }
  }
  out += ']';
}

void ArgsText::appendInputs(TextBuffer& out) const {
  out += ", \"Input Dims\": ";
  appendShapes(out, &PackedValue::sizes);
  out += ", \"Input Strides\": ";
  appendShapes(out, &PackedValue::strides);
  out += ", \"Input type\": [";
  for (const Value& each : values_) {
    if (&each != values_.data()) out += ", ";
    appendQuoted(out, typeName(each.value, each.items));
  }
  out += "], \"Concrete Inputs\": [";
  for (const Value& each : values_) {
    if (&each != values_.data()) out += ", ";
    appendConcrete(out, each.value, each.items);
  }
  out += ']';
}

void ArgsText::appendUserKeys(TextBuffer& out, const EventDetails& details) const {
  UserKeys keys;
  for (const std::string& counter : trace_.info().performance_events) keys.take(counter);
  if (details.keyword_inputs.words != nullptr) appendKeywords(out, details.keyword_inputs, keys);
  for (uint32_t i = 0; i < details.metadata_count; ++i) {
    const EventDetails::Metadata& metadata = details.metadata[i];
    const std::string_view key = trace_.name(metadata.key).text;
    const bool repeated = std::any_of(details.metadata + i + 1, details.metadata + details.metadata_count,
                                      [&](const EventDetails::Metadata& later) { return trace_.name(later.key).text == key; });
    if (repeated) continue;  // the last one counts
    keys.append(out, key);
    appendQuoted(out, metadata.text);
  }
}

void ArgsText::append(TextBuffer& out, const EventDetails& details) {
  if (details.sequence_number >= 0) {
    out += ", \"Sequence number\": ";
    appendInteger(out, details.sequence_number);
    out += ", \"Fwd thread id\": ";
    appendInteger(out, details.forward_thread);
  }
  if (details.inputs.words != nullptr) {
    readValues(details.inputs);
    appendInputs(out);
  }
  if (details.outputs.words != nullptr) {
    readValues(details.outputs);
    out += ", \"Output Dims\": ";
    appendShapes(out, &PackedValue::sizes);
  }
  if (details.inputs.cut || details.keyword_inputs.cut || details.outputs.cut) out += ", \"Inputs cut\": true";
  if (details.debug_handle >= 0) {
    out += ", \"Debug handle\": ";
    appendInteger(out, details.debug_handle);
  }
  if (details.module_count != 0) appendModules(out, trace_, details);
  if (details.stack != 0) appendStack(out, trace_, details.stack);
  const std::vector<std::string>& counters = trace_.info().performance_events;
  for (uint32_t i = 0; i < details.perf_count && i < counters.size(); ++i) {
    out += ", ";
    appendQuoted(out, counters[i]);
    out += ": ";
    base::appendUnsigned(out, details.perf[i]);
  }
  if (details.keyword_inputs.words != nullptr || details.metadata_count != 0) appendUserKeys(out, details);
  if (!details.metadata_json.empty()) {
    out += ", ";
    out += details.metadata_json;
  }
}

std::string ArgsText::text(const EventDetails& details) {
  TextBuffer out;
  append(out, details);
  return out.size() > 2 ? std::string(out.view().substr(2)) : std::string();
}

void appendMemoryArgs(TextBuffer& out, const TraceEvent& event, const EventDetails& details) {
  out += "\"Total Reserved\": ";
  base::appendUnsigned(out, details.total_reserved);
  out += ", \"Total Allocated\": ";
  base::appendUnsigned(out, details.total_allocated);
  out += ", \"Bytes\": ";
  appendInteger(out, details.bytes);
  out += ", \"Device Id\": ";
  appendInteger(out, details.device.index);
  out += ", \"Device Type\": ";
  appendInteger(out, static_cast<int>(details.device.type));
  if (event.kind == TraceEventKind::memory) {
    out += ", \"Addr\": ";
    base::appendUnsigned(out, details.address);
  }
  if (event.id != 0) {
    out += ", \"External id\": ";
    base::appendUnsigned(out, event.id);
  }
}

}  // namespace xsigma::profiler::trace
