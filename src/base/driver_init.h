// Whether the calling thread is inside the initialisation of a vendor's driver, which must not be asked anything then.
#pragma once

namespace xsigma::profiler::base {

bool insideDriverInit() noexcept;

class DriverInitSection {
 public:
  DriverInitSection() noexcept;
  ~DriverInitSection();
  DriverInitSection(const DriverInitSection&) = delete;
  DriverInitSection& operator=(const DriverInitSection&) = delete;
};

}  // namespace xsigma::profiler::base
