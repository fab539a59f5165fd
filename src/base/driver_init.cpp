#include "base/driver_init.h"

namespace xsigma::profiler::base {
namespace {

constinit thread_local bool inside = false;

}  // namespace

bool insideDriverInit() noexcept { return inside; }
DriverInitSection::DriverInitSection() noexcept { inside = true; }
DriverInitSection::~DriverInitSection() { inside = false; }

}  // namespace xsigma::profiler::base
