// MemoryCategory: what memory is for, said by a guard around the code that allocates it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xsigma/profiler/export.h"
#include "xsigma/profiler/scope.h"

namespace xsigma::profiler {

enum class MemoryCategory : uint8_t { input, temporary, activation, gradient, autograd_detail, parameter, optimizer_state, unknown };
inline constexpr size_t kMemoryCategories = 8;

XSIGMA_PROFILER_API const char* toString(MemoryCategory category) noexcept;

// The scopes that guards open are called so, with the category's name behind it: "memory category: gradient". Any scope of such a name
// counts, whoever opened it. They give a category, and are no part of the path by which memory is told.
inline constexpr char kMemoryCategoryScope[] = "memory category: ";

namespace detail {
XSIGMA_PROFILER_API ScopeSite& memoryCategorySite(MemoryCategory category) noexcept;
}

// What this thread allocates while the guard lives is of this category; of nested guards the innermost counts. A guard is a scope: it stands
// in the trace, and costs what a scope costs. What is allocated under no guard is `temporary` if it is released while the scope that
// allocated it is still open, by whichever thread; otherwise, and outside of any scope, `unknown`.
class MemoryCategoryGuard {
 public:
  explicit MemoryCategoryGuard(MemoryCategory category) noexcept : scope_(detail::memoryCategorySite(category)) {}
  MemoryCategoryGuard(const MemoryCategoryGuard&) = delete;
  MemoryCategoryGuard& operator=(const MemoryCategoryGuard&) = delete;

 private:
  detail::ScopeGuard scope_;
};

}  // namespace xsigma::profiler
