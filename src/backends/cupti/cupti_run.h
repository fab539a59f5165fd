// CuptiRun: CUDA devices being watched, from start to drain.
#pragma once

#include <atomic>
#include <memory>

#include "backends/cupti/attachment.h"
#include "backends/cupti/cuda_driver.h"
#include "backends/cupti/worker.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::cupti {

// Who may use CUPTI in this process: one run, or a preparation.
class Claim;

class Counting;

class CuptiRun final : public BackendRun {
 public:
  static Expected<std::unique_ptr<BackendRun>> start(const CuptiLibrary& cupti, const CudaDriver& driver, const BackendRequest& request,
                                                     std::shared_ptr<BackendOutput> output);
  // Everything once without recording, so that what is slow the first time is done. The milliseconds that it took.
  static Expected<double> rehearse(const CuptiLibrary& cupti, const BackendRequest& request);

  ~CuptiRun() override;
  void setCollecting(bool on) noexcept override;
  void stop() noexcept override;
  bool drain(std::chrono::steady_clock::time_point deadline) noexcept override;

 private:
  CuptiRun(const CuptiLibrary& cupti, std::shared_ptr<Attachment> attachment, std::shared_ptr<Worker> worker,
           std::shared_ptr<Counting> counting);
  // A child of a fork has no worker, and a CUDA that it cannot use.
  bool isForked() const noexcept;

  const CuptiLibrary& cupti_;
  std::shared_ptr<Attachment> attachment_;  // detached by whoever is the last to use CUPTI: the worker, unless it was refused
  std::shared_ptr<Worker> worker_;
  std::shared_ptr<Counting> counting_;  // hardware counters; null: none were asked for
  std::atomic<bool> collecting_{true};
  bool stopped_ = false;
  bool drained_ = false;
  int process_;
};

}  // namespace xsigma::profiler::backends::cupti
