// The ways to open a scope, each as a loop.
#pragma once

#include <cstddef>

namespace hot_path {

void staticScope(size_t count);
void staticScopeAroundBody(size_t count);
void dynamicSamePointer(size_t count);
void dynamicByContent(size_t count);   // the same names at ever other addresses
void dynamicManyNames(size_t count);   // 64 names in turn
void recordFunctionWithShapes(size_t count);  // sequence number, two tensors

}  // namespace hot_path
