// Work that goes on behind the program's back, on a thread of its own.
#pragma once

#include <functional>

namespace xsigma::profiler::base {

// Runs `work` once, on a thread that takes no signals; where no thread can be had, at once and here. It must not throw. A program that ends waits for it, at most five
// seconds. In a forked child it never ran.
void runBehind(std::function<void()> work);

}  // namespace xsigma::profiler::base
