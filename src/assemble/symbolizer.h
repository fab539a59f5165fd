// Return addresses as text. Reads the files that were loaded, not the process: it may be gone.
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/loaded_modules.h"

namespace xsigma::profiler::assemble {

class Symbolizer {
 public:
  // Of modules that share an address, the later one has it. Separate debug files are looked for in <debug_directory>/.build-id.
  explicit Symbolizer(std::vector<base::LoadedModule> modules, std::string debug_directory = "/usr/lib/debug");
  ~Symbolizer();

  // "ns::function(int)+0x1c (libfoo.so)"; "0x1c40 (libfoo.so)", an address for addr2line, where the file has no name for it, is gone or is
  // another one by now; "0x7f0012345678" outside of all modules. Any thread; the first question about a module reads its symbols.
  // Throws nothing but std::bad_alloc. A file that is shortened while it is read raises SIGBUS, as it does in every program that maps it.
  std::string describe(uint64_t return_address) const;

 private:
  class Module;

  std::string describeAnew(uint64_t return_address) const;

  std::vector<std::unique_ptr<Module>> modules_;
  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<uint64_t, std::string> described_;
};

}  // namespace xsigma::profiler::assemble
