// OwnedValues: a deep copy of borrowed input values.
#pragma once

#include <memory>
#include <vector>

#include "xsigma/profiler/input_value.h"

namespace xsigma::profiler::instrument {

class OwnedValues {
 public:
  explicit OwnedValues(InputList values) : values_(copyList(values)) {}
  InputList values() const { return values_; }

 private:
  std::vector<InputValue> copyList(InputList values);
  InputValue copyValue(const InputValue& value);
  template <typename T>
  const T* copyArray(const T* from, size_t count);

  std::vector<std::unique_ptr<char[]>> bytes_;
  std::vector<std::unique_ptr<std::vector<InputValue>>> lists_;
  std::vector<InputValue> values_;
};

}  // namespace xsigma::profiler::instrument
