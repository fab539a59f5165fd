#include "backends/cupti/call_filter.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "backends/cupti/names.h"

namespace xsigma::profiler::backends::cupti {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

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
        "MemUnmap",     "MemRelease",  "MemExport",     "MemImport",    "MemHost",     "Prefetch",    "MemPool",
        "Graph",        "Synchronize", "StreamWait",    "StreamWrite",  "StreamBatch", "EventRecord", "ModuleLoad",
        "ModuleUnload", "LibraryLoad", "LibraryUnload", "LinkComplete", "Capture",     "Discard",     "Decompress"}) {
    if (contains(function, deed)) return true;
  }
  return false;
}

namespace {

// Both lists go on in later versions; so far past the headers' own end it is looked.
constexpr uint32_t kLater = 200;

// There is one CUPTI in a process: made once.
const std::vector<CUpti_CallbackId>& leftOut(const CuptiLibrary& cupti, bool driver) {
  const auto list = [&cupti](bool of_driver) {
    std::vector<CUpti_CallbackId> functions;
    const CUpti_CallbackDomain domain = of_driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
    const uint32_t end = (of_driver ? uint32_t{CUPTI_DRIVER_TRACE_CBID_SIZE} : uint32_t{CUPTI_RUNTIME_TRACE_CBID_SIZE}) + kLater;
    for (uint32_t function = 1; function < end; ++function) {
      const char* name = nullptr;
      if (cupti.get_callback_name(domain, function, &name) != CUPTI_SUCCESS || name == nullptr) continue;
      const std::string_view plain = withoutVersion(name);
      if (!(of_driver ? isKeptDriverCall(plain) : isKeptRuntimeCall(plain))) functions.push_back(function);
    }
    return functions;
  };
  static const std::vector<CUpti_CallbackId>& of_runtime = *new std::vector<CUpti_CallbackId>(list(false));
  static const std::vector<CUpti_CallbackId>& of_driver = *new std::vector<CUpti_CallbackId>(list(true));
  return driver ? of_driver : of_runtime;
}

}  // namespace

void leaveOutAtSource(const CuptiLibrary& cupti, bool driver) {
  const auto leave_out = driver ? cupti.enable_driver_api : cupti.enable_runtime_api;
  if (leave_out == nullptr) return;
  for (const CUpti_CallbackId function : leftOut(cupti, driver)) leave_out(function, 0);
}

}  // namespace xsigma::profiler::backends::cupti
