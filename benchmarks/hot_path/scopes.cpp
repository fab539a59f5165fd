#include "scopes.h"

#include <xsigma/profiler/profiler.h>

#include <string>
#include <vector>

#include "floor.h"

namespace hot_path {

using namespace xsigma::profiler;

constexpr size_t kNames = 64;

void staticScope(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    XSIGMA_PROFILE_SCOPE("hot path");
    keepLoop();
  }
}

void staticScopeAroundBody(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    XSIGMA_PROFILE_SCOPE("hot path body");
    body();
  }
}

void dynamicSamePointer(size_t count) {
  static const std::string name = "layer.attention";
  for (size_t i = 0; i < count; ++i) {
    XSIGMA_PROFILE_SCOPE_DYNAMIC(name);
    keepLoop();
  }
}

void dynamicByContent(size_t count) {
  static const std::vector<std::string> copies(kNames, "transformer.layer.attention");  // too long to live inside the string object
  for (size_t i = 0; i < count; ++i) {
    XSIGMA_PROFILE_SCOPE_DYNAMIC(copies[i % kNames]);
    keepLoop();
  }
}

void dynamicManyNames(size_t count) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (size_t i = 0; i < kNames; ++i) made.push_back("transformer.layer." + std::to_string(i));
    return made;
  }();
  for (size_t i = 0; i < count; ++i) {
    XSIGMA_PROFILE_SCOPE_DYNAMIC(names[i % kNames]);
    keepLoop();
  }
}

void recordFunctionWithShapes(size_t count) {
  const int64_t left[] = {128, 256};
  const int64_t right[] = {256, 512};
  const std::vector<InputValue> inputs{TensorInfo{nullptr, left, nullptr, 2, "float"}, TensorInfo{nullptr, right, nullptr, 2, "float"}};
  for (size_t i = 0; i < count; ++i) {
    XSIGMA_RECORD_FUNCTION("aten::mm", inputs, static_cast<int64_t>(i));
    keepLoop();
  }
}

}  // namespace hot_path
