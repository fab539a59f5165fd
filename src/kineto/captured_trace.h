// CapturedTrace: a capture as libkineto's finished trace.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "kineto/ActivityTraceInterface.h"
#include "xsigma/profiler/capture.h"
#include "xsigma/profiler/observer.h"

namespace xsigma::profiler {

class CapturedTrace final : public libkineto::ActivityTraceInterface {
 public:
  CapturedTrace(Capture capture, const ExperimentalConfig& config)
      : capture_(std::move(capture)), deadline_(config.assembly_deadline), trace_only_(config.trace_only) {}

  // Put together when first asked for; any thread.
  const std::vector<const libkineto::ITraceActivity*>* activities() override;
  void save(const std::string& path) override;

 private:
  Capture capture_;
  std::chrono::nanoseconds deadline_;
  bool trace_only_;
  std::once_flag viewed_;
  std::vector<std::unique_ptr<libkineto::ITraceActivity>> owned_;
  std::vector<const libkineto::ITraceActivity*> views_;
};

}  // namespace xsigma::profiler
