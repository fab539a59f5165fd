// The details of an operation as records before its begin: sequence number and the like, inputs, keyword inputs.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/format.h"
#include "xsigma/profiler/input_value.h"
#include "xsigma/profiler/record.h"

namespace xsigma::profiler::capture {

class Writer;

struct OpDetails {
  int64_t sequence_number = -1;
  uint64_t forward_thread = 0;
  int64_t debug_handle = -1;
  uint64_t id = 0;  // 0: the scope's own, by counting
  bool async = false;
  InputList inputs;
  const std::vector<KeywordValue>* keyword_inputs = nullptr;

  bool hasInfo() const noexcept { return sequence_number >= 0 || forward_thread != 0 || debug_handle >= 0 || id != 0 || async; }
  bool hasKeywords() const noexcept { return keyword_inputs != nullptr && !keyword_inputs->empty(); }
  bool hasInputs() const noexcept { return !inputs.empty() || hasKeywords(); }
  bool any() const noexcept { return hasInfo() || hasInputs(); }
};

// The most words that the details can take. A list that would not fit in `most_words` is left out, and the record says so.
uint32_t mostDetailWords(const OpDetails& details, bool with_inputs, uint32_t most_words) noexcept;
// Writes the records at `at`; how many words they took.
uint32_t putDetails(const OpDetails& details, bool with_inputs, uint32_t most_words, uint32_t delta, uint32_t* at) noexcept;

// One list of values on its own, for the scope with this id: outputs.
uint32_t mostOutputWords(InputList outputs, uint32_t most_words) noexcept;
uint32_t putOutputs(InputList outputs, uint64_t id, uint32_t most_words, uint32_t delta, uint32_t* at) noexcept;

// Payload of an inputs record, after head and tick. False if the bytes make no sense.
struct DecodedInputs {
  InputRole role = InputRole::inputs;
  bool cut = false;
  uint64_t id = 0;  // outputs: of the scope
  std::vector<RecordedInput> values;
  std::vector<std::string> keys;
};
bool decodeInputs(const uint32_t* payload, uint32_t words, DecodedInputs& out);
// The values alone.
bool decodeValues(const uint32_t* words, uint32_t size, uint32_t count, bool keywords, DecodedInputs& out);

}  // namespace xsigma::profiler::capture
