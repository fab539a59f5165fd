// Values of environment variables, checked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "xsigma/profiler/status.h"

namespace xsigma::profiler::base {

// Empty and unset are the same.
std::optional<std::string> environmentText(const char* name);
// One of the choices; its place in the list.
Expected<std::optional<size_t>> environmentChoice(const char* name, const std::vector<std::string>& choices);
// A number of bytes, plain or with K, M, G (of 1024).
Expected<std::optional<size_t>> environmentBytes(const char* name);

}  // namespace xsigma::profiler::base
