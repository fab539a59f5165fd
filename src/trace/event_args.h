// The args of an event, as Kineto names them.
#pragma once

#include <string>
#include <vector>

#include "base/packed_values.h"
#include "base/text_buffer.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::trace {

// Keeps what it reads with, so that one event after the other costs no memory. One per thread.
class ArgsText {
 public:
  explicit ArgsText(const Trace& trace) : trace_(trace) {}

  // Members of an object, each with ", " before it.
  void append(base::TextBuffer& out, const EventDetails& details);
  // Members without a comma before the first.
  std::string text(const EventDetails& details);

 private:
  // A value with what follows it, should it be a list.
  struct Value {
    base::PackedValue value;
    base::PackedValues items;
  };
  void readValues(const PackedInputs& inputs);
  void appendShapes(base::TextBuffer& out, base::PackedIntegers base::PackedValue::*field) const;
  void appendInputs(base::TextBuffer& out) const;
  void appendUserKeys(base::TextBuffer& out, const EventDetails& details) const;

  const Trace& trace_;
  std::vector<Value> values_;
};

// What memory events have, without anything before it.
void appendMemoryArgs(base::TextBuffer& out, const TraceEvent& event, const EventDetails& details);

}  // namespace xsigma::profiler::trace
