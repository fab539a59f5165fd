// Which calls into CUDA are worth an event. Programs and the runtime ask the driver many questions that take no time and start nothing.
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/cupti/cupti_library.h"

namespace xsigma::profiler::backends::cupti {

// `function` without its version.
bool isKeptRuntimeCall(std::string_view function);
// Launches, copies, fills, memory, graphs, waiting and loading; whatever can start work is among them.
bool isKeptDriverCall(std::string_view function);

// Tells CUPTI not to record the others, where it can be told (12.5); costs then nothing at all. After the kind has been enabled, which resets it.
void leaveOutAtSource(const CuptiLibrary& cupti, bool driver);

}  // namespace xsigma::profiler::backends::cupti
