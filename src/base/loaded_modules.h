// What is loaded where: turns addresses into places in files that can still be read when the process is gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace xsigma::profiler::base {

struct LoadedModule {
  std::string path{};      // absolute; the kernel's own is "[vdso]"
  uint64_t start = 0;      // of the first segment
  uint64_t end = 0;        // past the last one
  uint64_t bias = 0;       // address in memory minus address in the file's tables
  std::string build_id{};  // hexadecimal; empty where the file has none
};

// The program first, then its libraries. Allocates and takes the loader's lock.
std::vector<LoadedModule> loadedModules();

// The GNU build id among ELF notes, in hexadecimal; empty when there is none or the notes are damaged.
std::string buildIdAmong(const unsigned char* notes, size_t size, size_t alignment);

}  // namespace xsigma::profiler::base
