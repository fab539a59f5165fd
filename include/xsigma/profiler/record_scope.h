// RecordScope: what kind of range a scope is. Values are those of the seed documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace xsigma::profiler {

enum class RecordScope : uint8_t {
  FUNCTION = 0,
  BACKWARD_FUNCTION,
  TORCHSCRIPT_FUNCTION,
  KERNEL_FUNCTION_DTYPE,
  CUSTOM_CLASS,
  BUILD_FEATURE,
  LITE_INTERPRETER,
  USER_SCOPE,
  STATIC_RUNTIME_OP,
  STATIC_RUNTIME_MODEL,
  NUM_SCOPES,
};

inline constexpr size_t kNumRecordScopes = static_cast<size_t>(RecordScope::NUM_SCOPES);

}  // namespace xsigma::profiler

template <>
struct std::hash<xsigma::profiler::RecordScope> {
  size_t operator()(xsigma::profiler::RecordScope scope) const noexcept { return static_cast<size_t>(scope); }
};
