// Worker: the thread that reads what CUPTI has recorded. All that may block in CUPTI while a run is on or ends is done here.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/cupti/buffer_pool.h"
#include "backends/cupti/cupti_library.h"
#include "backends/cupti/decoder.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::cupti {

class Worker : public std::enable_shared_from_this<Worker> {
 public:
  // So often what is complete is fetched: a kill loses no more than that.
  static constexpr std::chrono::milliseconds kPeriod{250};

  // `hold` on CUPTI is let go of as the last thing that the thread does. `renew` asks for callbacks again; null where that is not needed.
  Worker(const CuptiLibrary& cupti, std::shared_ptr<BackendOutput> output, std::unique_ptr<Decoder> decoder, std::shared_ptr<void> hold,
         std::function<void()> renew);

  // An error: the system gave no thread. Otherwise finish() must be called.
  Status start();
  // While nothing is recorded there is nothing to fetch.
  void setCollecting(bool on) noexcept { collecting_.store(on, std::memory_order_relaxed); }
  // After recording has been switched off: reads what is left. False: not by then. Nothing is put after it has returned. The thread then lets go of CUPTI, and
  // ends, which is waited for if it is soon.
  bool finish(std::chrono::steady_clock::time_point deadline);

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  void readCompleted();
  void read(const BufferPool::Completed& buffer);
  void countDropped();
  // What finds no memory is lost.
  template <typename Step>
  void decode(const Step& step);
  void readRest();
  bool mayPut() const noexcept { return !abandoned_.load(std::memory_order_acquire); }

  const CuptiLibrary& cupti_;
  std::shared_ptr<BackendOutput> output_;
  std::unique_ptr<Decoder> decoder_;
  std::shared_ptr<void> hold_;
  std::function<void()> renew_;
  BufferPool& pool_;
  std::vector<BufferPool::Completed> completed_;
  std::atomic<bool> collecting_{true};
  std::atomic<bool> finishing_{false};
  std::atomic<bool> abandoned_{false};  // drain has given up: nothing may be put any more
  std::atomic<bool> putting_{false};    // the thread is where it puts
  Clock::time_point deadline_{};
  std::mutex mutex_;  // of what follows; never held while CUPTI is called
  std::condition_variable ended_;
  bool done_ = false;
  pid_t thread_ = 0;
};

}  // namespace xsigma::profiler::backends::cupti
