// What the programs here look for in a result: work of a device, the calls that asked for it, and the name that both sides can agree on.
#pragma once

#include <xsigma/profiler/profiler.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "kineto/ActivityType.h"

namespace device_tests {

inline libkineto::ActivityType typeOf(const xsigma::profiler::KinetoEvent& event) {
  return static_cast<libkineto::ActivityType>(event.activityType());
}
inline bool isKernel(const xsigma::profiler::KinetoEvent& event) { return typeOf(event) == libkineto::ActivityType::CONCURRENT_KERNEL; }
inline bool isCopyOrFill(const xsigma::profiler::KinetoEvent& event) {
  return typeOf(event) == libkineto::ActivityType::GPU_MEMCPY || typeOf(event) == libkineto::ActivityType::GPU_MEMSET;
}
inline bool isCall(const xsigma::profiler::KinetoEvent& event) {
  return typeOf(event) == libkineto::ActivityType::CUDA_RUNTIME || typeOf(event) == libkineto::ActivityType::CUDA_DRIVER;
}

// An integer argument of an event, such as "stream"; `otherwise` where there is none. Needs expose_kineto_event_metadata.
inline int64_t argument(const xsigma::profiler::KinetoEvent& event, std::string_view key, int64_t otherwise) {
  const std::string json = event.metadataJson();
  const size_t at = json.find("\"" + std::string(key) + "\":");
  return at != std::string::npos ? std::strtoll(json.c_str() + at + key.size() + 3, nullptr, 10) : otherwise;
}
// What a call and the work that it asked for have in common.
inline uint64_t correlationOf(const xsigma::profiler::KinetoEvent& event) {
  return static_cast<uint64_t>(argument(event, "correlation", static_cast<int64_t>(event.correlationId())));
}

// "void scale<int>(unsigned int*)" -> "scale<int>"; "Memcpy HtoD (Pinned -> Device)" -> "Memcpy HtoD"
inline std::string plainName(std::string_view name) {
  if (name.substr(0, 5) == "void ") name.remove_prefix(5);
  name = name.substr(0, name.find('('));
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  return std::string(name);
}

// Which devices were recorded, and why others were not.
inline void printDevices(const xsigma::profiler::ProfilerResult& result) {
  for (const xsigma::profiler::CaptureProperty& property : result.capture().properties()) {
    if (property.key == "xsigmaDevices") std::printf("devices: %s\n", property.json.c_str());
  }
}

using Counts = std::map<std::string, uint64_t>;

inline uint64_t sumOf(const Counts& counts) {
  uint64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

}  // namespace device_tests
