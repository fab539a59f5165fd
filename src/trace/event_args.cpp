#include "trace/event_args.h"

#include <algorithm>

#include "base/json_text.h"
#include "base/packed_values.h"

namespace xsigma::profiler::trace {

using base::appendInteger;
using base::appendQuoted;
using base::PackedIntegers;
using base::PackedValue;
using base::PackedValues;
using Kind = InputValue::Kind;

namespace {

constexpr uint32_t kMostListItems = 30;  // longer lists of scalars are not shown
constexpr int kDeepest = 8;

void appendList(std::string& out, const PackedIntegers& values) {
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

// Calls each(value, its items) for every top value; the items may be read or left.
template <typename Each>
void forEachValue(const PackedInputs& inputs, Each each) {
  PackedValues in(inputs.words, inputs.size);
  PackedValue value;
  for (uint32_t i = 0; i < inputs.count; ++i) {
    if (!in.value(value)) return;
    PackedValues items = in;
    if (value.kind == Kind::list && !skipItems(in, value.items)) return;
    each(i, value, items);
  }
}

template <typename Item>
void appendArray(std::string& out, std::string_view key, const PackedInputs& inputs, Item item) {
  out += ", \"";
  out += key;
  out += "\": [";
  forEachValue(inputs, [&](uint32_t index, const PackedValue& value, PackedValues items) {
    if (index != 0) out += ", ";
    item(value, items);
  });
  out += ']';
}

// The tensors of a list, each with its sizes or strides.
template <typename Pick>
void appendTensorList(std::string& out, uint32_t count, PackedValues items, Pick pick) {
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

void appendConcrete(std::string& out, const PackedValue& value, PackedValues items) {
  std::string text;
  if (value.kind == Kind::list && typeName(value, items) == "ScalarList" && value.items <= kMostListItems) {
    text += '[';
    PackedValue item;
    for (uint32_t i = 0; i < value.items && items.value(item); ++i) {
      if (i != 0) text += ", ";
      appendScalar(text, item);
    }
    text += ']';
  } else if (value.kind != Kind::list && value.kind != Kind::tensor) {
    appendScalar(text, value);
  }
  appendQuoted(out, text);
}

void appendShapes(std::string& out, std::string_view key, const PackedInputs& inputs, PackedIntegers PackedValue::*field) {
  appendArray(out, key, inputs, [&](const PackedValue& value, PackedValues items) {
    if (value.kind == Kind::tensor) return appendList(out, value.*field);
    if (value.kind == Kind::list && typeName(value, items) == "TensorList") {
      return appendTensorList(out, value.items, items, [field](const PackedValue& tensor) { return tensor.*field; });
    }
    out += "[]";
  });
}

void appendInputs(std::string& out, const PackedInputs& inputs) {
  appendShapes(out, "Input Dims", inputs, &PackedValue::sizes);
  appendShapes(out, "Input Strides", inputs, &PackedValue::strides);
  appendArray(out, "Input type", inputs, [&](const PackedValue& value, PackedValues items) { appendQuoted(out, typeName(value, items)); });
  appendArray(out, "Concrete Inputs", inputs, [&](const PackedValue& value, PackedValues items) { appendConcrete(out, value, items); });
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
  void append(std::string& out, std::string_view key) {
    std::string plain(key);
    std::string shown = base::quoted(plain);  // keys that are no UTF-8 may differ and still become the same text
    while (std::find(std::begin(kReserved), std::end(kReserved), plain) != std::end(kReserved) ||
           std::find(used_.begin(), used_.end(), shown) != used_.end()) {
      plain.insert(0, "user ");
      shown = base::quoted(plain);
    }
    out += ", ";
    out += shown;
    out += ": ";
    used_.push_back(std::move(shown));
  }

 private:
  std::vector<std::string> used_;  // as JSON
};

void appendKeywords(std::string& out, const PackedInputs& inputs, UserKeys& keys) {
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
      case Kind::boolean: out += value.integer != 0 ? "true" : "false"; break;
      case Kind::string: appendQuoted(out, value.text); break;
      case Kind::tensor: appendList(out, value.sizes); break;
      case Kind::none: out += "\"None\""; break;
      case Kind::list: appendConcrete(out, value, items); break;
    }
  }
}

std::string perfName(const Trace& trace, uint32_t index) {
  const std::vector<std::string>& names = trace.info().performance_events;
  return index < names.size() ? names[index] : "counter " + std::to_string(index);
}

void appendStack(std::string& out, const Trace& trace, uint32_t stack) {
  std::string joined;
  for (const std::string& frame : trace.stack(stack)) {
    if (!joined.empty()) joined += ';';
    joined += frame;
  }
  out += ", \"Call stack\": ";
  appendQuoted(out, joined);
}

}  // namespace

void appendArgs(std::string& out, const Trace& trace, const EventDetails& details) {
  if (details.sequence_number >= 0) {
    out += ", \"Sequence number\": ";
    appendInteger(out, details.sequence_number);
    out += ", \"Fwd thread id\": ";
    appendInteger(out, details.forward_thread);
  }
  if (details.inputs.words != nullptr) appendInputs(out, details.inputs);
  if (details.outputs.words != nullptr) appendShapes(out, "Output Dims", details.outputs, &PackedValue::sizes);
  UserKeys keys;
  for (uint32_t i = 0; i < details.perf_count; ++i) keys.take(perfName(trace, i));
  if (details.keyword_inputs.words != nullptr) appendKeywords(out, details.keyword_inputs, keys);
  if (details.inputs.cut || details.keyword_inputs.cut || details.outputs.cut) out += ", \"Inputs cut\": true";
  if (details.debug_handle >= 0) {
    out += ", \"Debug handle\": ";
    appendInteger(out, details.debug_handle);
  }
  if (details.stack != 0) appendStack(out, trace, details.stack);
  for (uint32_t i = 0; i < details.perf_count; ++i) {
    out += ", ";
    appendQuoted(out, perfName(trace, i));
    out += ": ";
    base::appendUnsigned(out, details.perf[i]);
  }
  for (uint32_t i = 0; i < details.metadata_count; ++i) {
    const EventDetails::Metadata& metadata = details.metadata[i];
    const std::string_view key = trace.name(metadata.key).text;
    const bool repeated = std::any_of(details.metadata + i + 1, details.metadata + details.metadata_count,
                                      [&](const EventDetails::Metadata& later) { return trace.name(later.key).text == key; });
    if (repeated) continue;  // the last one counts
    keys.append(out, key);
    appendQuoted(out, metadata.text);
  }
  if (!details.metadata_json.empty()) {
    out += ", ";
    out += details.metadata_json;
  }
}

void appendMemoryArgs(std::string& out, const TraceEvent& event, const EventDetails& details) {
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
