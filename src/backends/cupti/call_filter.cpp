#include "backends/cupti/call_filter.h"

#include <algorithm>
#include <iterator>

#include "backends/cupti/names.h"

namespace xsigma::profiler::backends::cupti {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Both lists go on in later versions; so far past the headers' own end it is looked.
constexpr uint32_t kLater = 200;

}  // namespace

bool isKeptRuntimeCall(std::string_view function) {
  constexpr std::string_view kNoise[] = {"cudaGetDevice",       "cudaSetDevice",   "cudaGetLastError",
                                         "cudaPeekAtLastError", "cudaEventCreate", "cudaEventCreateWithFlags",
                                         "cudaEventDestroy"};
  return std::find(std::begin(kNoise), std::end(kNoise), function) == std::end(kNoise);
}

bool isKeptDriverCall(std::string_view function) {
  for (const std::string_view question : {"Get", "Query", "IsCapturing", "Attribute", "SetParams", "AddDependencies"}) {
    if (contains(function, question)) return false;
  }
  for (const std::string_view deed :
       {"Launch",       "Memcpy",      "Memset",        "MemAlloc",     "MemFree",     "MemCreate",   "MemMap",
        "MemUnmap",     "MemRelease",  "MemExport",     "MemImport",    "MemHost",     "MemPrefetch", "MemPool",
        "Graph",        "Synchronize", "StreamWait",    "StreamWrite",  "StreamBatch", "EventRecord", "ModuleLoad",
        "ModuleUnload", "LibraryLoad", "LibraryUnload", "LinkComplete", "Capture"}) {
    if (contains(function, deed)) return true;
  }
  return false;
}

void leaveOutAtSource(const CuptiLibrary& cupti, bool driver) {
  const auto leave_out = driver ? cupti.enable_driver_api : cupti.enable_runtime_api;
  if (leave_out == nullptr) return;
  const CUpti_CallbackDomain domain = driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
  const uint32_t end = (driver ? uint32_t{CUPTI_DRIVER_TRACE_CBID_SIZE} : uint32_t{CUPTI_RUNTIME_TRACE_CBID_SIZE}) + kLater;
  for (uint32_t function = 1; function < end; ++function) {
    const char* name = nullptr;
    if (cupti.get_callback_name(domain, function, &name) != CUPTI_SUCCESS || name == nullptr) continue;
    const std::string_view plain = withoutVersion(name);
    if (driver ? isKeptDriverCall(plain) : isKeptRuntimeCall(plain)) continue;
    leave_out(function, 0);
  }
}

}  // namespace xsigma::profiler::backends::cupti
