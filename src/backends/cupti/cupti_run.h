// CuptiRun: CUDA devices being watched, from start to drain.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

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
  // Until what is on is what is wanted, by whoever came first. CUPTI is never called under the lock.
  void follow(std::unique_lock<std::mutex>& lock) noexcept;
  void switchTo(bool on) noexcept;

  const CuptiLibrary& cupti_;
  std::shared_ptr<Attachment> attachment_;  // detached by whoever is the last to use CUPTI: the worker, unless it was refused
  std::shared_ptr<Worker> worker_;
  std::shared_ptr<Counting> counting_;  // hardware counters; null: none were asked for
  std::mutex mutex_;
  std::condition_variable switched_;
  bool wanted_ = true;
  bool on_ = true;
  bool switching_ = false;  // somebody is in follow()
  bool stopped_ = false;
  bool drained_ = false;
  int process_;
};

}  // namespace xsigma::profiler::backends::cupti
