// A thread of ours in somebody else's program.
#pragma once

#include <functional>
#include <thread>

namespace xsigma::profiler::base {

// Runs `work` on a thread that takes no signals but those of its own faults: they are the program's. The name, of at most 15 characters, is what debuggers and top show.
// Throws std::system_error where the system gives no thread.
std::thread startQuietThread(const char* name, std::function<void()> work);

}  // namespace xsigma::profiler::base
