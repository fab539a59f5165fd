// DynamicLibrary: a library that is opened while the program runs, and never closed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "xsigma/profiler/status.h"

namespace xsigma::profiler::base {

class DynamicLibrary {
 public:
  // The first of these names or paths that can be opened. An error names all that were tried, and what the loader said of each.
  static Expected<DynamicLibrary> open(const std::vector<std::string>& candidates);

  // Null if the library does not have it.
  void* find(const char* symbol) const noexcept;
  template <typename Function>
  Function* function(const char* symbol) const noexcept {
    return reinterpret_cast<Function*>(find(symbol));
  }
  // The file it came from.
  const std::string& path() const noexcept { return path_; }

 private:
  DynamicLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  void* handle_;
  std::string path_;
};

}  // namespace xsigma::profiler::base
