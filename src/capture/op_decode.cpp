#include <algorithm>
#include <cstring>

#include "capture/op_codec.h"

namespace xsigma::profiler::capture {
namespace {

// Reads words that may be anything: every step is checked against the end.
class Unpacker {
 public:
  Unpacker(const uint32_t* at, uint32_t words) : at_(at), end_(at + words) {}

  bool word(uint32_t& value) {
    if (at_ == end_) return false;
    value = *at_++;
    return true;
  }
  bool wide(uint64_t& value) {
    uint32_t low = 0;
    uint32_t high = 0;
    if (!word(low) || !word(high)) return false;
    value = low | static_cast<uint64_t>(high) << 32;
    return true;
  }
  bool text(std::string& out, size_t bytes) {
    const size_t words = (bytes + 3) / 4;
    if (words > static_cast<size_t>(end_ - at_)) return false;
    out.assign(reinterpret_cast<const char*>(at_), bytes);
    at_ += words;
    return true;
  }
  bool integers(std::vector<int64_t>& out, size_t count) {
    if (count * 2 > static_cast<size_t>(end_ - at_)) return false;
    out.resize(count);
    if (count != 0) std::memcpy(out.data(), at_, count * sizeof(int64_t));
    at_ += count * 2;
    return true;
  }
  bool value(RecordedInput& out, int depth) {
    uint32_t head = 0;
    if (!word(head) || (head & 0xFF) > static_cast<uint32_t>(InputValue::Kind::list)) return false;
    out.kind = static_cast<InputValue::Kind>(head & 0xFF);
    const uint32_t count = head >> 8;
    uint64_t bits = 0;
    switch (out.kind) {
      case InputValue::Kind::none: return true;
      case InputValue::Kind::boolean:
      case InputValue::Kind::integer:
        if (!wide(bits)) return false;
        out.integer = static_cast<int64_t>(bits);
        return true;
      case InputValue::Kind::real:
        if (!wide(bits)) return false;
        std::memcpy(&out.real, &bits, sizeof bits);
        return true;
      case InputValue::Kind::string: return text(out.text, count);
      case InputValue::Kind::tensor: return tensor(out, count);
      case InputValue::Kind::list: return list(out, count, depth);
    }
    return false;
  }

 private:
  bool tensor(RecordedInput& out, uint32_t dim) {
    uint32_t device = 0;
    uint32_t dtype = 0;
    if (!wide(out.address) || !word(device) || !word(dtype) || !text(out.text, dtype & 0xFF)) return false;
    out.device = {static_cast<DeviceType>(device & 0xFF), static_cast<int32_t>(device) >> 8};
    return integers(out.sizes, dim) && ((dtype >> 8 & 1) == 0 || integers(out.strides, dim));
  }
  bool list(RecordedInput& out, uint32_t count, int depth) {
    constexpr int kDeepest = 8;
    if (depth >= kDeepest || count > static_cast<size_t>(end_ - at_)) return false;
    out.items.resize(count);
    return std::all_of(out.items.begin(), out.items.end(), [&](RecordedInput& item) { return value(item, depth + 1); });
  }

  const uint32_t* at_;
  const uint32_t* end_;
};

}  // namespace

bool decodeInputs(const uint32_t* payload, uint32_t words, DecodedInputs& out) {
  Unpacker in(payload, words);
  uint32_t head = 0;
  if (!in.word(head) || !in.wide(out.id) || (head & 0xFF) > static_cast<uint32_t>(InputRole::outputs)) return false;
  out.role = static_cast<InputRole>(head & 0xFF);
  out.cut = (head >> 8 & 1) != 0;
  const uint32_t count = head >> 16;
  if (count > words) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (out.role == InputRole::keyword_inputs) {
      RecordedInput key;
      if (!in.value(key, 0) || key.kind != InputValue::Kind::string) return false;
      out.keys.push_back(std::move(key.text));
    }
    if (!in.value(out.values.emplace_back(), 0)) return false;
  }
  return true;
}

}  // namespace xsigma::profiler::capture
