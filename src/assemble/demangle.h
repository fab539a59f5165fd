// C++ names as their authors wrote them.
#pragma once

#include <string>
#include <string_view>

namespace xsigma::profiler::assemble {

// The name itself where it is no C++ name, is longer than 8 KiB, or might come out larger than memory can hold.
std::string demangle(std::string_view name);

}  // namespace xsigma::profiler::assemble
