#include "xsigma/profiler/memory_category.h"

#include <array>

namespace xsigma::profiler {

const char* toString(MemoryCategory category) noexcept {
  switch (category) {
    case MemoryCategory::input: return "input";
    case MemoryCategory::temporary: return "temporary";
    case MemoryCategory::activation: return "activation";
    case MemoryCategory::gradient: return "gradient";
    case MemoryCategory::autograd_detail: return "autograd_detail";
    case MemoryCategory::parameter: return "parameter";
    case MemoryCategory::optimizer_state: return "optimizer_state";
    case MemoryCategory::unknown: break;
  }
  return "unknown";
}

namespace detail {

#define XSIGMA_CATEGORY_SITE(name) \
  { "memory category: " name, __FILE__, __LINE__, RecordScope::USER_SCOPE }

ScopeSite& memoryCategorySite(MemoryCategory category) noexcept {
  static constinit ScopeSite sites[kMemoryCategories] = {
      XSIGMA_CATEGORY_SITE("input"),           XSIGMA_CATEGORY_SITE("temporary"),       XSIGMA_CATEGORY_SITE("activation"),
      XSIGMA_CATEGORY_SITE("gradient"),        XSIGMA_CATEGORY_SITE("autograd_detail"), XSIGMA_CATEGORY_SITE("parameter"),
      XSIGMA_CATEGORY_SITE("optimizer_state"), XSIGMA_CATEGORY_SITE("unknown"),
  };
  const auto index = static_cast<size_t>(category);
  return sites[index < kMemoryCategories ? index : static_cast<size_t>(MemoryCategory::unknown)];
}

}  // namespace detail
}  // namespace xsigma::profiler
