// Work that must not hold up its caller for long.
#pragma once

#include <chrono>
#include <functional>

namespace xsigma::profiler::base {

// Runs `work` on a thread that takes no signals, and waits for it, at most so long. True: it has ended. False: it goes on by itself, with what it has
// captured. Where the system gives no thread, it runs here. That there
// is no memory for it there counts as an end.
bool endsWithin(std::chrono::milliseconds most, const char* name, std::function<void()> work);

}  // namespace xsigma::profiler::base
