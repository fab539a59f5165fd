#include "backends/cupti/names.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <memory>

#include "backends/cupti/cupti_api.h"

namespace xsigma::profiler::backends::cupti {

const char* copyKindName(uint32_t kind) {
  constexpr const char* kNames[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
  return kind < std::size(kNames) ? kNames[kind] : "Unrecognized";
}

const char* memoryKindName(uint32_t kind) {
  constexpr const char* kNames[] = {"Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"};
  return kind < std::size(kNames) ? kNames[kind] : "Unrecognized";
}

const char* syncName(uint32_t type) {
  switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE: return "Event Sync";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT: return "Stream Wait Event";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE: return "Stream Sync";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE: return "Context Sync";
    default: return "Unknown Sync";
  }
}

const char* overheadName(uint32_t kind) {
  // By number: the headers may be older than the library.
  if (kind == 0) return "Unknown";
  if (kind == 1) return "Driver Compiler";
  constexpr const char* kNames[] = {
      "Buffer Flush",        "Instrumentation",         "Resource",         "Runtime Triggered Module Loading", "Lazy Function Loading",
      "Command Buffer Full", "Activity Buffer Request", "UVM Activity Init"};
  const uint32_t place = kind >> 16;
  return (kind & 0xffff) == 0 && place >= 1 && place <= std::size(kNames) ? kNames[place - 1] : "Unrecognized";
}

std::string copyName(uint32_t kind, uint32_t source, uint32_t target) {
  return fmt::format("Memcpy {} ({} -> {})", copyKindName(kind), memoryKindName(source), memoryKindName(target));
}

std::string fillName(uint32_t memory_kind) { return fmt::format("Memset ({})", memoryKindName(memory_kind)); }

std::string_view withoutVersion(std::string_view function) {
  const size_t at = function.rfind("_v");
  if (at == std::string_view::npos) return function;
  const std::string_view digits = function.substr(at + 2);
  if (digits.size() < 4 || digits.find_first_not_of("0123456789") != std::string_view::npos) return function;
  return function.substr(0, at);
}

std::string demangled(const char* name) {
  if (name == nullptr) return "unknown";
  if (name[0] != '_' || name[1] != 'Z') return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

}  // namespace xsigma::profiler::backends::cupti
