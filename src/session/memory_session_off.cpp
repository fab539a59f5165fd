// In place of memory_session.cpp and the analysis of memory, where the library is built with XSIGMA_ENABLE_KINETO=OFF.
#include "xsigma/profiler/memory_profile.h"

namespace xsigma::profiler {
namespace {

std::string missing(const char* call) {
  return std::string(call) +
         ": this library was built with XSIGMA_ENABLE_KINETO=OFF, without captures. Build it with XSIGMA_ENABLE_KINETO=ON";
}

}  // namespace

std::string MemoryProfile::path(uint32_t) const { return {}; }
std::string MemoryProfile::summary() const { return missing("MemoryProfile::summary"); }
Status MemoryProfile::save(const std::string&) const { return {StatusCode::unsupported, missing("MemoryProfile::save")}; }

MemoryProfile analyzeMemory(const Capture&) { throw ProfilerError(missing("analyzeMemory")); }
void startMemoryProfile(const CaptureOptions&) { throw ProfilerError(missing("startMemoryProfile")); }
void stopMemoryProfile() { throw ProfilerError(missing("stopMemoryProfile")); }
MemoryProfile memoryProfile() { throw ProfilerError(missing("memoryProfile")); }
void exportMemoryProfile(const std::string&) { throw ProfilerError(missing("exportMemoryProfile")); }

}  // namespace xsigma::profiler
