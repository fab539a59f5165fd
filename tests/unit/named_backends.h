// Which device backends a test may use: without this, what it sees depends on the GPU of its machine.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace xsigma::profiler::profiled {

class NamedBackends {
 public:
  explicit NamedBackends(const char* names) {
    if (const char* const before = std::getenv(kVariable)) before_ = before;
    setenv(kVariable, names, 1);
  }
  ~NamedBackends() { before_ ? setenv(kVariable, before_->c_str(), 1) : unsetenv(kVariable); }
  NamedBackends(const NamedBackends&) = delete;
  NamedBackends& operator=(const NamedBackends&) = delete;

 private:
  static constexpr const char* kVariable = "XSIGMA_PROFILER_BACKENDS";
  std::optional<std::string> before_;
};

}  // namespace xsigma::profiler::profiled
