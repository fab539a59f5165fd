#include "capture/op_codec.h"

#include <algorithm>
#include <cstring>

// An inputs record, in 4-byte words:
//   [head][ticks − base][role | cut << 8 | count << 16][id, 64 bits] then per value
//   [kind | dim or bytes << 8] and:
//     boolean, integer, real  64 bits
//     string                  the bytes, padded to words; for keyword inputs each value is preceded by a string, its key
//     tensor                  [address, 64][device type | index << 8][dtype bytes | has strides << 8][dtype, padded][sizes, 64 each][strides]
//     list                    its values follow, count in the head
namespace xsigma::profiler::capture {
namespace {

constexpr uint32_t kOpInfoWords = 10;
constexpr uint32_t kInputsHeadWords = 5;
constexpr int kMaxDim = 64;
constexpr int kMaxDepth = 4;
constexpr size_t kMaxStringValue = 1024;
constexpr size_t kMaxDtype = 64;

uint32_t wordsOf(size_t bytes) noexcept { return static_cast<uint32_t>((bytes + 3) / 4); }
std::string_view cutString(std::string_view text) noexcept { return text.substr(0, kMaxStringValue); }
size_t dtypeBytes(const TensorInfo& tensor) noexcept { return tensor.dtype != nullptr ? strnlen(tensor.dtype, kMaxDtype) : 0; }
uint32_t dimOf(const TensorInfo& tensor) noexcept { return tensor.sizes != nullptr ? static_cast<uint32_t>(std::clamp(tensor.dim, 0, kMaxDim)) : 0; }

uint32_t valueWords(const InputValue& value, int depth) noexcept {
  switch (value.kind()) {
    case InputValue::Kind::none: return 1;
    case InputValue::Kind::boolean:
    case InputValue::Kind::integer:
    case InputValue::Kind::real: return 3;
    case InputValue::Kind::string: return 1 + wordsOf(cutString(value.string()).size());
    case InputValue::Kind::tensor: {
      const TensorInfo& tensor = value.tensor();
      return 5 + wordsOf(dtypeBytes(tensor)) + dimOf(tensor) * (tensor.strides != nullptr ? 4 : 2);
    }
    case InputValue::Kind::list: {
      uint32_t words = 1;
      if (depth >= kMaxDepth) return words;
      for (const InputValue& item : value.list()) words += valueWords(item, depth + 1);
      return words;
    }
  }
  return 1;
}

uint32_t listWords(InputList values) noexcept {
  uint32_t words = kInputsHeadWords;
  for (const InputValue& value : values) words += valueWords(value, 0);
  return words;
}

uint32_t keywordWords(const std::vector<KeywordValue>& values) noexcept {
  uint32_t words = kInputsHeadWords;
  for (const KeywordValue& value : values) words += valueWords(InputValue(value.key), 0) + valueWords(value.value, 0);
  return words;
}

// A list that does not fit keeps its head alone, marked as cut.
uint32_t fitted(uint32_t words, uint32_t most_words) noexcept { return words <= most_words ? words : kInputsHeadWords; }

class Packer {
 public:
  explicit Packer(uint32_t* at) : at_(at) {}

  void word(uint32_t value) noexcept { *at_++ = value; }
  void wide(uint64_t value) noexcept {
    word(static_cast<uint32_t>(value));
    word(static_cast<uint32_t>(value >> 32));
  }
  void bytes(const void* data, size_t size) noexcept {
    if (size % 4 != 0) at_[size / 4] = 0;
    if (size != 0) std::memcpy(at_, data, size);
    at_ += wordsOf(size);
  }
  void value(const InputValue& value, int depth) noexcept {
    const auto kind = static_cast<uint32_t>(value.kind());
    switch (value.kind()) {
      case InputValue::Kind::none: return word(kind);
      case InputValue::Kind::boolean:
      case InputValue::Kind::integer: word(kind); return wide(static_cast<uint64_t>(value.integer()));
      case InputValue::Kind::real: {
        uint64_t bits;
        const double real = value.real();
        std::memcpy(&bits, &real, sizeof bits);
        word(kind);
        return wide(bits);
      }
      case InputValue::Kind::string: {
        const std::string_view text = cutString(value.string());
        word(kind | static_cast<uint32_t>(text.size()) << 8);
        return bytes(text.data(), text.size());
      }
      case InputValue::Kind::tensor: return tensor(value.tensor());
      case InputValue::Kind::list: {
        const InputList items = depth >= kMaxDepth ? InputList() : value.list();
        word(kind | static_cast<uint32_t>(items.size()) << 8);
        for (const InputValue& item : items) this->value(item, depth + 1);
        return;
      }
    }
  }

 private:
  void tensor(const TensorInfo& tensor) noexcept {
    const uint32_t dim = dimOf(tensor);
    const size_t dtype = dtypeBytes(tensor);
    const bool strides = tensor.strides != nullptr;
    word(static_cast<uint32_t>(InputValue::Kind::tensor) | dim << 8);
    wide(reinterpret_cast<uint64_t>(tensor.data));
    word(static_cast<uint8_t>(tensor.device.type) | static_cast<uint32_t>(tensor.device.index) << 8);
    word(static_cast<uint32_t>(dtype) | static_cast<uint32_t>(strides) << 8);
    bytes(tensor.dtype, dtype);
    bytes(tensor.sizes, dim * sizeof(int64_t));
    if (strides) bytes(tensor.strides, dim * sizeof(int64_t));
  }

  uint32_t* at_;
};

uint32_t* putHead(InputRole role, uint32_t words, uint32_t wanted, size_t count, uint64_t id, uint32_t delta, uint32_t* at) noexcept {
  const bool cut = words != wanted;
  Packer pack(at);
  pack.word(sizedHead(Code::inputs, words));
  pack.word(delta);
  pack.word(static_cast<uint32_t>(role) | static_cast<uint32_t>(cut) << 8 | static_cast<uint32_t>(cut ? 0 : count) << 16);
  pack.wide(id);
  return cut ? nullptr : at + kInputsHeadWords;
}

uint32_t putList(InputRole role, InputList values, uint64_t id, uint32_t most_words, uint32_t delta, uint32_t* at) noexcept {
  const uint32_t wanted = listWords(values);
  const uint32_t words = fitted(wanted, most_words);
  if (uint32_t* const body = putHead(role, words, wanted, values.size(), id, delta, at)) {
    Packer pack(body);
    for (const InputValue& value : values) pack.value(value, 0);
  }
  return words;
}

}  // namespace

uint32_t detailWords(const OpDetails& details, bool with_inputs, uint32_t most_words) noexcept {
  uint32_t words = details.hasInfo() ? kOpInfoWords : 0;
  if (!with_inputs) return words;
  most_words = (most_words - kOpInfoWords - kBeginWords) / 2;
  if (!details.inputs.empty()) words += fitted(listWords(details.inputs), most_words);
  if (details.keyword_inputs != nullptr && !details.keyword_inputs->empty()) words += fitted(keywordWords(*details.keyword_inputs), most_words);
  return words;
}

void putDetails(const OpDetails& details, bool with_inputs, uint32_t most_words, uint32_t delta, uint32_t* at) noexcept {
  if (details.hasInfo()) {
    Packer pack(at);
    pack.word(sizedHead(Code::op_info, kOpInfoWords));
    pack.word(delta);
    pack.wide(static_cast<uint64_t>(details.sequence_number));
    pack.wide(static_cast<uint64_t>(details.debug_handle));
    pack.wide(details.id);
    pack.word(static_cast<uint32_t>(details.forward_thread));
    pack.word(details.async ? 1 : 0);
    at += kOpInfoWords;
  }
  if (!with_inputs) return;
  most_words = (most_words - kOpInfoWords - kBeginWords) / 2;
  if (!details.inputs.empty()) at += putList(InputRole::inputs, details.inputs, 0, most_words, delta, at);
  if (details.keyword_inputs == nullptr || details.keyword_inputs->empty()) return;
  const uint32_t wanted = keywordWords(*details.keyword_inputs);
  if (uint32_t* const body = putHead(InputRole::keyword_inputs, fitted(wanted, most_words), wanted, details.keyword_inputs->size(), 0, delta, at)) {
    Packer pack(body);
    for (const KeywordValue& value : *details.keyword_inputs) {
      pack.value(InputValue(value.key), 0);
      pack.value(value.value, 0);
    }
  }
}

uint32_t outputWords(InputList outputs, uint32_t most_words) noexcept { return fitted(listWords(outputs), most_words); }

void putOutputs(InputList outputs, uint64_t id, uint32_t most_words, uint32_t delta, uint32_t* at) noexcept {
  putList(InputRole::outputs, outputs, id, most_words, delta, at);
}

}  // namespace xsigma::profiler::capture
