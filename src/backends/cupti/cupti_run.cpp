#include "backends/cupti/cupti_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include "backends/cupti/attach_in_time.h"
#include "backends/cupti/buffer_pool.h"
#include "backends/cupti/counters/counters.h"
#include "backends/cupti/cupti_threads.h"
#include "backends/cupti/stream_dump.h"
#include "base/driver_init.h"
#include "base/log.h"

namespace xsigma::profiler::backends::cupti {

class Claim {
 public:
  // Null: somebody has it. A run that has just ended gives it back soon, so it is waited for.
  static std::shared_ptr<Claim> take() {
    auto claim = std::make_shared<Claim>();
    const auto most = std::chrono::steady_clock::now() + kMostWaiting;
    for (int nobody = 0; !holder.compare_exchange_strong(nobody, getpid()); nobody = 0) {
      if (nobody != getpid() || std::chrono::steady_clock::now() >= most) return nullptr;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    claim->held_ = true;
    return claim;
  }
  ~Claim() {
    if (held_) holder.store(0);
  }
  // What to say when take() gave none.
  static Status isTaken() {
    if (const int process = holder.load(); process != 0 && process != getpid()) {
      return {StatusCode::unsupported,
              "this process was forked while its parent watched CUDA devices: neither CUDA nor CUPTI can be used in it. Start such "
              "processes before, or "
              "with exec"};
    }
    return {StatusCode::busy,
            "CUDA devices are being watched already in this process, or a session that has just ended still waits for CUPTI. End the other "
            "session "
            "first, or try again in a moment"};
  }

 private:
  static constexpr std::chrono::seconds kMostWaiting{2};
  bool held_ = false;
  static std::atomic<int> holder;  // the process that has it; 0 = none
};
std::atomic<int> Claim::holder{0};

// What a run has of CUPTI. Whoever calls CUPTI for it has a share, and the last one lets go.
struct Tenure {
  Tenure(std::shared_ptr<Claim> of_process, std::shared_ptr<Attachment> to_cupti)
      : claim(std::move(of_process)), attachment(std::move(to_cupti)) {}
  ~Tenure() {
    attachment->detach();
    BufferPool::ofProcess().release();
  }
  Tenure(const Tenure&) = delete;
  Tenure& operator=(const Tenure&) = delete;

  std::shared_ptr<Claim> claim;
  std::shared_ptr<Attachment> attachment;
};

// Hardware counters beside the records. They see the program's launches through the same subscriber.
class Counting final : public CallbackListener {
 public:
  static constexpr uint8_t kClock = 1;

  explicit Counting(std::unique_ptr<CounterRun> run) : run_(std::move(run)) {}
  void callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept override { run_->callback(domain, id, data); }
  CounterRun& run() { return *run_; }

 private:
  std::unique_ptr<CounterRun> run_;
};

namespace {

constexpr std::chrono::seconds kMostSwitching{1};

void putVersions(const CuptiLibrary& cupti, const CudaDriver& driver, BackendOutput& output) {
  output.property("cupti_version", fmt::format("{}", cupti.version));
  if (const int version = driver.version(); version != 0) output.property("cuda_driver_version", fmt::format("{}", version));
  if (const int version = loadedRuntimeVersion(); version != 0) output.property("cuda_runtime_version", fmt::format("{}", version));
}

}  // namespace

Expected<std::unique_ptr<BackendRun>> CuptiRun::start(const CuptiLibrary& cupti, const CudaDriver& driver, const BackendRequest& request,
                                                      std::shared_ptr<BackendOutput> output) {
  std::shared_ptr<Claim> claim = Claim::take();
  if (claim == nullptr) return Claim::isTaken();
  if (Status status = BufferPool::ofProcess().prepare(request.buffer_bytes - counterBytes(request)); !status) return status;
  Expected<std::unique_ptr<Attachment>> attached = attachInTime(cupti, request, claim);
  if (!attached) return attached.status();
  const auto tenure = std::make_shared<Tenure>(std::move(claim), *std::move(attached));
  const std::shared_ptr<Attachment>& attachment = tenure->attachment;

  std::shared_ptr<Counting> counting;
  if (!request.metrics.empty()) {
    Expected<std::unique_ptr<CounterRun>> counters = startCounters({cupti.file, Counting::kClock}, request, output);
    if (!counters) return counters.status();
    counting = std::make_shared<Counting>(*std::move(counters));
    attachment->listen(counting, counting->run().callbacks());
  }

  putVersions(cupti, driver, *output);
  std::function<void()> renew;
  if (base::insideDriverInit()) renew = [attachment] { attachment->renewCallbacks(); };
  const auto worker =
      std::make_shared<Worker>(cupti, output, std::make_unique<Decoder>(cupti, &driver, request, *output), tenure, std::move(renew));
  Status status = attachment->enable();
  if (status && !attachment->refused().empty()) output->property("xsigmaNotRecorded", "{" + attachment->refused() + "}");
  if (status) status = worker->start();
  if (!status) {
    if (counting != nullptr) {
      counting->run().stop();
      counting->run().drain(std::chrono::steady_clock::now() + std::chrono::seconds(1));
    }
    attachment->disable();
    attachment->disableCallbacks();
    return status;
  }
  std::unique_ptr<CuptiRun> run(new CuptiRun(cupti, attachment, worker, counting));
  StreamDump::ofProcess().want(cupti);
  return std::unique_ptr<BackendRun>(std::move(run));
}

Expected<double> CuptiRun::rehearse(const CuptiLibrary& cupti, const BackendRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  if (!request.metrics.empty()) {
    if (Status status = checkCounters({cupti.file, Counting::kClock}, request); !status) return status;
  }
  const std::shared_ptr<Claim> claim = Claim::take();
  if (claim == nullptr) return Claim::isTaken();
  BufferPool& pool = BufferPool::ofProcess();
  if (Status status = pool.prepare(request.buffer_bytes - counterBytes(request)); !status) return status;
  const Expected<std::unique_ptr<Attachment>> attached = attachInTime(cupti, request, claim);
  if (!attached) return attached.status();
  Attachment& attachment = *attached.value();
  if (Status status = attachment.enable(); !status) return status;
  attachment.disable();
  attachment.disableCallbacks();
  cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  std::vector<BufferPool::Completed> empty;
  pool.takeCompleted(empty);
  for (const BufferPool::Completed& buffer : empty) pool.giveBack(buffer);
  attachment.letGo();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

CuptiRun::CuptiRun(const CuptiLibrary& cupti, std::shared_ptr<Attachment> attachment, std::shared_ptr<Worker> worker,
                   std::shared_ptr<Counting> counting)
    : cupti_(cupti), attachment_(std::move(attachment)), worker_(std::move(worker)), counting_(std::move(counting)), process_(getpid()) {}

CuptiRun::~CuptiRun() {
  if (drained_) return;
  stop();
  drain(std::chrono::steady_clock::now());  // whoever destroys it early wants nothing of it
}

bool CuptiRun::isForked() const noexcept { return getpid() != process_; }

void CuptiRun::setCollecting(bool on) noexcept {
  if (isForked()) return;
  std::unique_lock<std::mutex> lock(mutex_);
  if (stopped_) return;
  wanted_ = on;
  if (!switching_) follow(lock);
}

void CuptiRun::follow(std::unique_lock<std::mutex>& lock) noexcept {
  switching_ = true;
  while (on_ != wanted_) {
    const bool on = wanted_;
    lock.unlock();
    switchTo(on);
    lock.lock();
    on_ = on;
  }
  if (stopped_) {  // stop() may not have waited for this
    lock.unlock();
    attachment_->disableCallbacks();
    lock.lock();
  }
  switching_ = false;
  switched_.notify_all();
}

void CuptiRun::switchTo(bool on) noexcept {
  if (counting_ != nullptr) counting_->run().setCollecting(on);
  if (!on) {
    attachment_->disable();
    worker_->setCollecting(false);
    return;
  }
  try {
    if (const Status status = attachment_->enable(); !status) base::warn("CUDA devices are not recorded any more: " + status.message());
  } catch (const std::bad_alloc&) {
    return;
  }
  worker_->setCollecting(true);
}

void CuptiRun::stop() noexcept {
  if (isForked()) return;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (std::exchange(stopped_, true)) return;
    wanted_ = false;
    // Whoever switches it on just now switches it off again.
    if (!switched_.wait_for(lock, kMostSwitching, [this] { return !switching_; })) {
      base::warn("CUDA devices: CUPTI does not come back from being switched on; it is switched off when it does");
    }
  }
  if (counting_ != nullptr) counting_->run().stop();
  attachment_->disable();
  attachment_->disableCallbacks();
  StreamDump::ofProcess().unwant(cupti_);
}

bool CuptiRun::drain(std::chrono::steady_clock::time_point deadline) noexcept {
  if (drained_ || isForked()) return true;
  stop();
  drained_ = true;
  // A launch that was seen to begin must be seen to end: the callbacks go after the counters. They say themselves what is missing.
  if (counting_ != nullptr) {
    CuptiThreads::ofProcess().noteThis();  // results are worked out here
    counting_->run().drain(deadline);
  }
  return worker_->finish(deadline);
}

}  // namespace xsigma::profiler::backends::cupti
