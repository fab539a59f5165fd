// What a thread of this process is called.
#pragma once

#include <cstdint>
#include <string>

namespace xsigma::profiler::base {

// By the system's number of the thread. Empty: there is none any more.
std::string threadName(uint32_t thread);

}  // namespace xsigma::profiler::base
