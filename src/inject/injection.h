// A session that a program does not know of: from when it first uses CUDA to its end, whichever way that comes.
#pragma once

#include <chrono>

namespace xsigma::profiler::inject {

// Starts the session of this process: all threads, host and devices, into a file. Again: nothing. Whatever is wrong is said, and the program goes on.
void start() noexcept;

// Ends it, on a thread that has been waiting for that, and waits for it until the deadline. It may be called again, from any thread, from a signal handler,
// and in forked children, where it does nothing.
void finish(std::chrono::milliseconds deadline) noexcept;

// Leaves a capture without events, so that one is there if the program never uses CUDA; start() replaces it. At a normal end it is said that nothing was heard.
void leaveEmptyCapture() noexcept;

}  // namespace xsigma::profiler::inject
