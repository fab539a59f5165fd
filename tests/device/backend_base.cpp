// The interface's own destructors, for programs that link a part of the library.
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler {

BackendOutput::~BackendOutput() = default;
BackendRun::~BackendRun() = default;
Backend::~Backend() = default;

}  // namespace xsigma::profiler
