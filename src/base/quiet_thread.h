// Threads of ours in somebody else's program: they take no signals, which are the program's, and have a name that debuggers show.
#pragma once

#include <functional>

#include "xsigma/profiler/status.h"

namespace xsigma::profiler::base {

// Runs `work` on a thread that nobody waits for. `name`: 15 characters at most. An error: the system gave no thread, and `work` has not run.
Status startQuietThread(const char* name, std::function<void()> work);

}  // namespace xsigma::profiler::base
