#include <algorithm>

#include "base/packed_values.h"
#include "capture/op_codec.h"

namespace xsigma::profiler::capture {
namespace {

void copy(const base::PackedIntegers& from, std::vector<int64_t>& to) {
  to.resize(from.size());
  for (uint32_t i = 0; i < from.size(); ++i) to[i] = from[i];
}

bool takeValue(base::PackedValues& in, RecordedInput& out, int depth) {
  constexpr int kDeepest = 8;
  base::PackedValue value;
  if (!in.value(value)) return false;
  out.kind = value.kind;
  out.integer = value.integer;
  out.real = value.real;
  out.text = value.text;
  out.address = value.address;
  out.device = value.device;
  copy(value.sizes, out.sizes);
  copy(value.strides, out.strides);
  if (value.kind != InputValue::Kind::list) return true;
  if (depth >= kDeepest) return false;
  out.items.resize(value.items);
  return std::all_of(out.items.begin(), out.items.end(), [&](RecordedInput& item) { return takeValue(in, item, depth + 1); });
}

bool takeValues(base::PackedValues& in, uint32_t count, bool keywords, DecodedInputs& out) {
  if (count > in.left()) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (keywords) {
      RecordedInput key;
      if (!takeValue(in, key, 0) || key.kind != InputValue::Kind::string) return false;
      out.keys.push_back(std::move(key.text));
    }
    if (!takeValue(in, out.values.emplace_back(), 0)) return false;
  }
  return true;
}

}  // namespace

bool decodeInputs(const uint32_t* payload, uint32_t words, DecodedInputs& out) {
  base::PackedValues in(payload, words);
  uint32_t head = 0;
  if (!in.word(head) || !in.wide(out.id) || (head & 0xFF) > static_cast<uint32_t>(InputRole::outputs)) return false;
  out.role = static_cast<InputRole>(head & 0xFF);
  out.cut = (head >> 8 & 1) != 0;
  return takeValues(in, head >> 16, out.role == InputRole::keyword_inputs, out);
}

bool decodeValues(const uint32_t* words, uint32_t size, uint32_t count, bool keywords, DecodedInputs& out) {
  base::PackedValues in(words, size);
  return takeValues(in, count, keywords, out);
}

}  // namespace xsigma::profiler::capture
