// Where an injected session records.
#pragma once

#include <string>
#include <string_view>

namespace xsigma::profiler::inject {

// In `pattern`: %p is the process, %h the machine, %% a percent sign. Others are left as they are.
std::string expandPath(std::string_view pattern, int process_id, std::string_view host);

// XSIGMA_PROFILER_FILE, or xsp.PROGRAM.PID.xst in the current folder; absolute. With the process's number in its name where somebody else is writing to that
// file, or will: the program's own copy of the library.
std::string capturePath();

}  // namespace xsigma::profiler::inject
