#include "xsigma/profiler/status.h"

namespace xsigma::profiler {

ProfilerError::~ProfilerError() = default;

}  // namespace xsigma::profiler
