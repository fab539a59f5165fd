// PackedValues: reads values as captures keep them (capture/op_codec.cpp draws the layout), without copying them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "xsigma/profiler/device.h"
#include "xsigma/profiler/input_value.h"

namespace xsigma::profiler::base {

// 64-bit integers that lie on 4-byte boundaries.
class PackedIntegers {
 public:
  PackedIntegers() = default;
  PackedIntegers(const uint32_t* words, uint32_t count) : words_(words), count_(count) {}
  uint32_t size() const noexcept { return count_; }
  int64_t operator[](uint32_t index) const noexcept {
    int64_t value;
    std::memcpy(&value, words_ + size_t{2} * index, sizeof value);
    return value;
  }

 private:
  const uint32_t* words_ = nullptr;
  uint32_t count_ = 0;
};

struct PackedValue {
  InputValue::Kind kind = InputValue::Kind::none;
  uint32_t items = 0;  // list: so many values follow
  int64_t integer = 0;
  double real = 0;
  std::string_view text;  // a string, or a tensor's dtype
  uint64_t address = 0;
  Device device{};
  PackedIntegers sizes;
  PackedIntegers strides;
};

// Reads words that may be anything: every step is checked against the end.
class PackedValues {
 public:
  PackedValues() = default;
  PackedValues(const uint32_t* words, uint32_t size) : at_(words), end_(words + size) {}

  bool empty() const noexcept { return at_ == end_; }
  uint32_t left() const noexcept { return static_cast<uint32_t>(end_ - at_); }
  bool word(uint32_t& value) noexcept {
    if (at_ == end_) return false;
    value = *at_++;
    return true;
  }
  bool wide(uint64_t& value) noexcept {
    uint32_t low = 0;
    uint32_t high = 0;
    if (!word(low) || !word(high)) return false;
    value = low | static_cast<uint64_t>(high) << 32;
    return true;
  }
  // The next value; of a list only its head, the items come next.
  bool value(PackedValue& out) noexcept {
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
      case InputValue::Kind::list: out.items = count; return count <= left();
    }
    return false;
  }

 private:
  bool text(std::string_view& out, size_t bytes) noexcept {
    const size_t words = (bytes + 3) / 4;
    if (words > left()) return false;
    out = {reinterpret_cast<const char*>(at_), bytes};
    at_ += words;
    return true;
  }
  bool integers(PackedIntegers& out, uint32_t count) noexcept {
    if (size_t{2} * count > left()) return false;
    out = {at_, count};
    at_ += size_t{2} * count;
    return true;
  }
  bool tensor(PackedValue& out, uint32_t dim) noexcept {
    uint32_t device = 0;
    uint32_t dtype = 0;
    if (!wide(out.address) || !word(device) || !word(dtype) || !text(out.text, dtype & 0xFF)) return false;
    out.device = {static_cast<DeviceType>(device & 0xFF), static_cast<int32_t>(device) >> 8};
    out.strides = {};
    return integers(out.sizes, dim) && ((dtype >> 8 & 1) == 0 || integers(out.strides, dim));
  }

  const uint32_t* at_ = nullptr;
  const uint32_t* end_ = nullptr;
};

}  // namespace xsigma::profiler::base
