#include "assemble/demangle.h"

#include <cxxabi.h>

#include <cmath>
#include <cstdlib>
#include <memory>

namespace xsigma::profiler::assemble {

namespace {

constexpr size_t kMostMangledBytes = 8192;
constexpr double kMostGrowthBits = 26;  // 64 MiB, half a second

// Whether what comes out stays small. A back reference (S1_, T_) repeats something earlier, which may hold back references itself: n of them
// multiply the text by up to 3^(n/3), and 400 bytes would be terabytes. Of LLVM's own names, 1 in 270 looks as if it could be like that.
bool staysSmall(std::string_view name) {
  size_t references = 0;
  for (size_t at = 0; at < name.size(); ++at) {
    if (name[at] != 'S' && name[at] != 'T') continue;
    size_t end = at + 1;
    while (end < name.size() && ((name[end] >= '0' && name[end] <= '9') || (name[end] >= 'A' && name[end] <= 'Z'))) ++end;
    if (end < name.size() && name[end] == '_') ++references;
  }
  const double length_bits = std::log2(static_cast<double>(name.size()));
  const bool has_pack = name.find("Dp") != std::string_view::npos || name.find("sp") != std::string_view::npos;  // printed once per element
  return static_cast<double>(references) * std::log2(3.0) / 3 + length_bits * (has_pack ? 2 : 1) <= kMostGrowthBits;
}

}  // namespace

std::string demangle(std::string_view name) {
  std::string plain(name);
  if (!name.starts_with("_Z") || name.size() > kMostMangledBytes || !staysSmall(name)) return plain;
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  int status = 0;
  const std::unique_ptr<char, Free> text(abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status));
  return status == 0 && text ? std::string(text.get()) : plain;
}

}  // namespace xsigma::profiler::assemble
