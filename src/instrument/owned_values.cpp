#include "instrument/owned_values.h"

#include <algorithm>
#include <cstring>

namespace xsigma::profiler::instrument {

template <typename T>
const T* OwnedValues::copyArray(const T* from, size_t count) {
  if (from == nullptr) return nullptr;
  bytes_.push_back(std::make_unique<char[]>(count * sizeof(T) + 1));
  std::memcpy(bytes_.back().get(), from, count * sizeof(T));
  return reinterpret_cast<const T*>(bytes_.back().get());
}

std::vector<InputValue> OwnedValues::copyList(InputList values) {
  std::vector<InputValue> copies;
  copies.reserve(values.size());
  for (const InputValue& value : values) copies.push_back(copyValue(value));
  return copies;
}

InputValue OwnedValues::copyValue(const InputValue& value) {
  switch (value.kind()) {
    case InputValue::Kind::string: return std::string_view(copyArray(value.string().data(), value.string().size()), value.string().size());
    case InputValue::Kind::tensor: {
      TensorInfo tensor = value.tensor();
      const auto dim = static_cast<size_t>(std::max(tensor.dim, 0));
      tensor.sizes = copyArray(tensor.sizes, dim);
      tensor.strides = copyArray(tensor.strides, dim);
      tensor.dtype = tensor.dtype != nullptr ? copyArray(tensor.dtype, std::strlen(tensor.dtype) + 1) : "";
      return tensor;
    }
    case InputValue::Kind::list: {
      auto copy = std::make_unique<std::vector<InputValue>>(copyList(value.list()));
      lists_.push_back(std::move(copy));
      return InputList(*lists_.back());
    }
    default: return value;
  }
}

}  // namespace xsigma::profiler::instrument
