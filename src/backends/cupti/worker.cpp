#include "backends/cupti/worker.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>

#include "backends/cupti/cupti_threads.h"
#include "backends/cupti/doorbell.h"
#include "backends/cupti/process_hooks.h"
#include "base/process_exit.h"
#include "base/quiet_thread.h"

namespace xsigma::profiler::backends::cupti {
namespace {

using namespace std::chrono_literals;

// What still runs when a run ends is waited for so long, by asking CUPTI again and again whether it is complete.
constexpr std::chrono::milliseconds kPatience = 300ms;
// So long the end of the thread is waited for, so that CUPTI can leave when the program waits for the device next. It takes less than one.
constexpr std::chrono::milliseconds kEnding = 20ms;
// A run that begins while the driver initialises, which forgets what callbacks it was asked for: so long they are asked for again, so often.
constexpr std::chrono::milliseconds kSettling = 1000ms;
constexpr std::chrono::milliseconds kSettlingPeriod = 2ms;

}  // namespace

Worker::Worker(const CuptiLibrary& cupti, std::shared_ptr<BackendOutput> output, std::unique_ptr<Decoder> decoder,
               std::shared_ptr<void> hold, std::function<void()> renew)
    : cupti_(cupti),
      output_(std::move(output)),
      decoder_(std::move(decoder)),
      hold_(std::move(hold)),
      renew_(std::move(renew)),
      pool_(BufferPool::ofProcess()) {
  completed_.reserve(BufferPool::kMostBuffers);
}

Status Worker::start() {
  base::watchProcessExit();
  try {
    base::startQuietThread("xsp-cupti", [self = shared_from_this()] { self->run(); }).detach();
  } catch (const std::system_error& error) {
    return {StatusCode::io_error, std::string("no thread for reading device records: ") + error.what()};
  }
  return {};
}

template <typename Step>
void Worker::decode(const Step& step) {
  try {
    step();
  } catch (const std::bad_alloc&) {
    decoder_->lost(DeviceLoss::buffers_full, 1);
  }
}

void Worker::run() {
  const pid_t thread = CuptiThreads::ofProcess().noteThis();
  pool_.fetchPages();
  Clock::time_point next = Clock::now() + kPeriod;
  const Clock::time_point settled = Clock::now() + (renew_ ? kSettling : 0ms);
  while (!finishing_.load(std::memory_order_acquire)) {
    auto rest = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    if (Clock::now() < settled) rest = std::min<std::chrono::milliseconds>(rest, kSettlingPeriod);
    if (rest > 0ms) Doorbell::ofProcess().wait(rest);
    readCompleted();
    if (Clock::now() < settled) renew_();
    if (Clock::now() < next) continue;
    next = Clock::now() + kPeriod;
    if (base::processExits()) continue;
    if (collecting_.load(std::memory_order_relaxed)) cupti_.flush_all(0);
    readCompleted();
    countDropped();
    putting_.store(true, std::memory_order_seq_cst);
    if (mayPut()) decode([this] { decoder_->tick(); });
    putting_.store(false, std::memory_order_release);
  }
  readRest();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    thread_ = thread;
    done_ = true;
  }
  ended_.notify_all();
  hold_.reset();  // may wait for whatever is inside of the driver
}

void Worker::readRest() {
  // Whole buffers first: CUPTI hands out those in which every record is complete.
  const Clock::time_point patience = std::min(Clock::now() + kPatience, Clock::now() + (deadline_ - Clock::now()) / 2);
  for (std::chrono::milliseconds pause = 1ms;; pause = std::min<std::chrono::milliseconds>(pause * 2, 16ms)) {
    cupti_.flush_all(0);
    readCompleted();
    if (pool_.outstanding() == 0 || Clock::now() >= patience) break;
    Doorbell::ofProcess().wait(pause);
  }
  // Then the rest, with what has not ended.
  if (pool_.outstanding() != 0) {
    decoder_->expectIncomplete();
    cupti_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    readCompleted();
  }
  countDropped();
  putting_.store(true, std::memory_order_seq_cst);
  if (mayPut()) decode([this] { decoder_->finish(); });
  putting_.store(false, std::memory_order_release);
}

void Worker::readCompleted() {
  putting_.store(true, std::memory_order_seq_cst);
  completed_.clear();
  pool_.takeCompleted(completed_);
  for (const BufferPool::Completed& buffer : completed_) {
    read(buffer);
    pool_.giveBack(buffer);
  }
  GraphNodes& nodes = ProcessHooks::ofProcess().nodes();
  for (GraphNode node; mayPut() && nodes.pop(node);) decoder_->put(node);
  if (const uint64_t lost = nodes.takeLost(); lost != 0 && mayPut()) decoder_->lost(DeviceLoss::buffers_full, lost);
  putting_.store(false, std::memory_order_release);
}

void Worker::read(const BufferPool::Completed& buffer) {
  CUpti_Activity* record = nullptr;
  while (mayPut()) {
    const CUptiResult result = cupti_.get_next_record(buffer.memory, buffer.valid, &record);
    if (result == CUPTI_ERROR_MAX_LIMIT_REACHED) return;
    if (result != CUPTI_SUCCESS || record == nullptr) {
      // No telling how many follow.
      if (buffer.valid != 0) decoder_->lost(DeviceLoss::unreadable, 1);
      return;
    }
    decode([&] { decoder_->put(*record); });
  }
}

void Worker::countDropped() {
  // CUPTI 13.0 says 0 when it is asked, and the number when it is asked again.
  size_t dropped = 0;
  for (int time = 0; time < 2; ++time) {
    size_t more = 0;
    if (cupti_.get_num_dropped_records(nullptr, 0, &more) == CUPTI_SUCCESS) dropped += more;
  }
  if (dropped == 0) return;
  putting_.store(true, std::memory_order_seq_cst);
  if (mayPut()) decoder_->lost(DeviceLoss::buffers_full, dropped);
  putting_.store(false, std::memory_order_release);
}

bool Worker::finish(Clock::time_point deadline) {
  deadline_ = deadline;
  finishing_.store(true, std::memory_order_release);
  Doorbell::ofProcess().ring();
  std::unique_lock<std::mutex> lock(mutex_);
  if (ended_.wait_until(lock, deadline, [this] { return done_; })) {
    lock.unlock();
    CuptiThreads::ofProcess().waitFor(thread_, kEnding);
    return true;
  }
  lock.unlock();
  abandoned_.store(true, std::memory_order_seq_cst);
  while (putting_.load(std::memory_order_seq_cst)) std::this_thread::sleep_for(50us);
  return false;
}

}  // namespace xsigma::profiler::backends::cupti
