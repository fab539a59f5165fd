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
uint32_t dimOf(const TensorInfo& tensor) noexcept { return tensor.sizes != nullptr ? static_cast<uint32_t>(std::clamp(tensor.dim, 0, kMaxDim)) : 0; }

// An upper bound, quick to find.
uint32_t mostWords(const InputValue& value, int depth) noexcept {
  switch (value.kind()) {
    case InputValue::Kind::none: return 1;
    case InputValue::Kind::boolean:
    case InputValue::Kind::integer:
    case InputValue::Kind::real: return 3;
    case InputValue::Kind::string: return 1 + wordsOf(cutString(value.string()).size());
    case InputValue::Kind::tensor: return 5 + wordsOf(kMaxDtype) + dimOf(value.tensor()) * 4;
    case InputValue::Kind::list: {
      uint32_t words = 1;
      if (depth >= kMaxDepth) return words;
      for (const InputValue& item : value.list()) words += mostWords(item, depth + 1);
      return words;
    }
  }
  return 1;
}

uint32_t mostListWords(InputList values) noexcept {
  uint32_t words = kInputsHeadWords;
  for (const InputValue& value : values) words += mostWords(value, 0);
  return words;
}

uint32_t mostKeywordWords(const std::vector<KeywordValue>& values) noexcept {
  uint32_t words = kInputsHeadWords;
  for (const KeywordValue& value : values) words += mostWords(InputValue(value.key), 0) + mostWords(value.value, 0);
  return words;
}

// A list that might not fit keeps its head alone, marked as cut.
uint32_t fitted(uint32_t words, uint32_t most_words) noexcept { return words <= most_words ? words : kInputsHeadWords; }

// Both lists and the rest fit one block together.
uint32_t mostPerList(uint32_t most_words) noexcept { return (most_words - kOpInfoWords - kBeginWords) / 2; }

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

  uint32_t* at() const noexcept { return at_; }

 private:
  void tensor(const TensorInfo& tensor) noexcept {
    const uint32_t dim = dimOf(tensor);
    const bool strides = tensor.strides != nullptr;
    word(static_cast<uint32_t>(InputValue::Kind::tensor) | dim << 8);
    wide(reinterpret_cast<uint64_t>(tensor.data));
    word(static_cast<uint8_t>(tensor.device.type) | static_cast<uint32_t>(tensor.device.index) << 8);
    uint32_t& about_dtype = *at_++;
    about_dtype = dtype(tensor.dtype) | static_cast<uint32_t>(strides) << 8;
    integers(tensor.sizes, dim);
    if (strides) integers(tensor.strides, dim);
  }
  // Short, of unknown length: copied as it is measured.
  uint32_t dtype(const char* text) noexcept {
    uint32_t size = 0;
    uint32_t packed = 0;
    if (text == nullptr) return 0;
    for (; size < kMaxDtype && text[size] != 0; ++size) {
      packed |= static_cast<uint32_t>(static_cast<uint8_t>(text[size])) << (size % 4 * 8);
      if (size % 4 == 3) {
        word(packed);
        packed = 0;
      }
    }
    if (size % 4 != 0) word(packed);
    return size;
  }
  void integers(const int64_t* values, uint32_t count) noexcept {
    for (uint32_t i = 0; i < count; ++i) wide(static_cast<uint64_t>(values[i]));
  }

  uint32_t* at_;
};

void putListHead(Packer& pack, InputRole role, bool cut, size_t count, uint64_t id, uint32_t delta) noexcept {
  pack.word(0);  // the head, once the length is known
  pack.word(delta);
  pack.word(static_cast<uint32_t>(role) | static_cast<uint32_t>(cut) << 8 | static_cast<uint32_t>(cut ? 0 : count) << 16);
  pack.wide(id);
}

uint32_t sealList(const Packer& pack, uint32_t* at) noexcept {
  const auto words = static_cast<uint32_t>(pack.at() - at);
  at[0] = sizedHead(Code::inputs, words);
  return words;
}

uint32_t putList(InputRole role, InputList values, uint64_t id, uint32_t most_words, uint32_t delta, uint32_t* at) noexcept {
  const bool cut = mostListWords(values) > most_words;
  Packer pack(at);
  putListHead(pack, role, cut, values.size(), id, delta);
  if (!cut) {
    for (const InputValue& value : values) pack.value(value, 0);
  }
  return sealList(pack, at);
}

uint32_t putKeywords(const std::vector<KeywordValue>& values, uint32_t most_words, uint32_t delta, uint32_t* at) noexcept {
  const bool cut = mostKeywordWords(values) > most_words;
  Packer pack(at);
  putListHead(pack, InputRole::keyword_inputs, cut, values.size(), 0, delta);
  if (!cut) {
    for (const KeywordValue& value : values) {
      pack.value(InputValue(value.key), 0);
      pack.value(value.value, 0);
    }
  }
  return sealList(pack, at);
}

}  // namespace

uint32_t mostDetailWords(const OpDetails& details, bool with_inputs, uint32_t most_words) noexcept {
  uint32_t words = details.hasInfo() ? kOpInfoWords : 0;
  if (!with_inputs) return words;
  const uint32_t most = mostPerList(most_words);
  if (!details.inputs.empty()) words += fitted(mostListWords(details.inputs), most);
  if (details.hasKeywords()) words += fitted(mostKeywordWords(*details.keyword_inputs), most);
  return words;
}

uint32_t putDetails(const OpDetails& details, bool with_inputs, uint32_t most_words, uint32_t delta, uint32_t* at) noexcept {
  uint32_t* const start = at;
  if (details.hasInfo()) {
    Packer pack(at);
    pack.word(sizedHead(Code::op_info, kOpInfoWords));
    pack.word(delta);
    pack.wide(static_cast<uint64_t>(details.sequence_number));
    pack.wide(static_cast<uint64_t>(details.debug_handle));
    pack.wide(details.id);
    pack.word(static_cast<uint32_t>(details.forward_thread));
    pack.word(details.async ? 1 : 0);
    at = pack.at();
  }
  if (with_inputs) {
    const uint32_t most = mostPerList(most_words);
    if (!details.inputs.empty()) at += putList(InputRole::inputs, details.inputs, 0, most, delta, at);
    if (details.hasKeywords()) at += putKeywords(*details.keyword_inputs, most, delta, at);
  }
  return static_cast<uint32_t>(at - start);
}

uint32_t mostOutputWords(InputList outputs, uint32_t most_words) noexcept { return fitted(mostListWords(outputs), most_words); }

uint32_t putOutputs(InputList outputs, uint64_t id, uint32_t most_words, uint32_t delta, uint32_t* at) noexcept {
  return putList(InputRole::outputs, outputs, id, most_words, delta, at);
}

}  // namespace xsigma::profiler::capture
