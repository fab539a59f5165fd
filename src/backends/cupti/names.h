// What things are called in a trace: as torch.profiler calls them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xsigma::profiler::backends::cupti {

const char* copyKindName(uint32_t kind);
const char* memoryKindName(uint32_t kind);
const char* syncName(uint32_t type);
const char* overheadName(uint32_t kind);

// "Memcpy HtoD (Pageable -> Device)"
std::string copyName(uint32_t kind, uint32_t source, uint32_t target);
std::string fillName(uint32_t memory_kind);

// cudaLaunchKernel_v7000 is cudaLaunchKernel.
std::string_view withoutVersion(std::string_view function);
// As it is when it is no mangled name.
std::string demangled(const char* name);

}  // namespace xsigma::profiler::backends::cupti
