// InputValue and TensorInfo: what a function was called with. Borrowed during the call, stored by value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "xsigma/profiler/device.h"

namespace xsigma::profiler {

struct TensorInfo {
  const void* data = nullptr;
  const int64_t* sizes = nullptr;
  const int64_t* strides = nullptr;  // may be null: not recorded
  int dim = 0;
  const char* dtype = "";
  Device device{};
};

class InputValue;

// A borrowed view of consecutive values; whatever it is made from must outlive the call it is passed to.
class InputList {
 public:
  InputList() = default;
  InputList(const InputValue* data, size_t size) : data_(data), size_(size) {}
  InputList(std::initializer_list<InputValue> values);
  template <typename Container,
            typename = std::enable_if_t<std::is_same_v<
                std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<const Container&>()))>>, InputValue>>>
  InputList(const Container& values) : data_(std::data(values)), size_(std::size(values)) {}

  const InputValue* begin() const { return data_; }
  const InputValue* end() const;
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const InputValue& operator[](size_t i) const;

 private:
  const InputValue* data_ = nullptr;
  size_t size_ = 0;
};

class InputValue {
 public:
  enum class Kind : uint8_t { none, boolean, integer, real, string, tensor, list };

  InputValue() : integer_(0) {}
  InputValue(std::nullptr_t) : InputValue() {}
  InputValue(bool value) : kind_(Kind::boolean), integer_(value) {}
  template <typename Integer, std::enable_if_t<std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>, int> = 0>
  InputValue(Integer value) : kind_(Kind::integer), integer_(static_cast<int64_t>(value)) {}
  InputValue(double value) : kind_(Kind::real), real_(value) {}
  InputValue(const char* value) : InputValue(std::string_view(value)) {}
  InputValue(const std::string& value) : InputValue(std::string_view(value)) {}
  InputValue(std::string_view value) : kind_(Kind::string), string_(value) {}
  InputValue(const TensorInfo& value) : kind_(Kind::tensor), tensor_(value) {}
  InputValue(InputList value) : kind_(Kind::list), list_(value) {}

  Kind kind() const { return kind_; }
  bool boolean() const { return integer_ != 0; }
  int64_t integer() const { return integer_; }
  double real() const { return real_; }
  std::string_view string() const { return string_; }
  const TensorInfo& tensor() const { return tensor_; }
  const InputList& list() const { return list_; }

 private:
  Kind kind_ = Kind::none;
  union {
    int64_t integer_;
    double real_;
    std::string_view string_;
    TensorInfo tensor_;
    InputList list_;
  };
};

inline InputList::InputList(std::initializer_list<InputValue> values) : size_(values.size()) {
  const InputValue* const first = values.begin();  // lives as long as the full expression that the list is written in
  data_ = first;
}
inline const InputValue* InputList::end() const { return data_ + size_; }
inline const InputValue& InputList::operator[](size_t i) const { return data_[i]; }

// A keyword argument, by name.
struct KeywordValue {
  std::string_view key;
  InputValue value;
};

}  // namespace xsigma::profiler
