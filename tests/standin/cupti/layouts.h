// What records hold that cannot be replayed as it is, and what they looked like in CUDA 12.0. A later layout of a kind only ever adds to the end.
#pragma once

#include <cupti_activity.h>
#include <cupti_callbacks.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace xsigma::standin {

struct FieldsOfKind {
  std::vector<size_t> strings{};    // of const char*
  std::vector<size_t> times{};      // of uint64_t; zero says that it is not known
  std::vector<size_t> processes{};  // of uint32_t
  std::vector<size_t> threads{};    // of uint32_t
  size_t bytes_in_12_0 = 0;         // 0 = as now
  bool work = false;                // the device did it, so it can be late
};

inline constexpr uint32_t kUnknownKind = 250;
inline constexpr size_t kUnknownBytes = 48;

// A field that ends behind the record is not there in its layout.
const FieldsOfKind& fieldsOf(uint32_t kind);

}  // namespace xsigma::standin
