#include "timing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

namespace xsigma::profiler::backends::cuda_events {
namespace {

using libkineto::ActivityType;

constexpr auto kPause = std::chrono::milliseconds(5);
constexpr int kMostDevices = 128;  // a clock each

uint64_t nextRun() noexcept {
  static constinit std::atomic<uint64_t> runs{0};
  return runs.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Timing::Timing(const ProfilerStubs& stubs, const BackendRequest& request, std::shared_ptr<BackendOutput> output)
    : stubs_(stubs),
      host_ticks_(request.host_ticks),
      process_id_(request.process_id),
      number_(nextRun()),
      rate_(request.host_ticks),
      output_(std::move(output)) {}

bool Timing::isOfThisProcess() const noexcept { return getpid() == process_id_; }

void Timing::beginCallbacks(RecordFunctionCallback callback) { callback_.store(addGlobalCallback(std::move(callback))); }

void Timing::endCallbacks() noexcept {
  if (callbacks_ended_.exchange(true)) return;
  if (const CallbackHandle callback = callback_.load(); callback != INVALID_CALLBACK_HANDLE) disableCallback(callback);
}

Range* Timing::begin() noexcept {
  if (!collecting_.load(std::memory_order_relaxed)) return nullptr;
  RangePool& pool = RangePool::instance();
  Range* const range = pool.take();
  if (range == nullptr) {
    no_range_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  try {
    if (range->maker != &stubs_) {
      range->begun = range->ended = nullptr;
      range->maker = &stubs_;
    }
    range->run = number_;
    range->device = -1;
    range->begun_ticks = host_ticks_();
    stubs_.record(&range->device, &range->begun, nullptr);
  } catch (...) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    range->device = -1;
  }
  if (range->device < 0 || range->device >= kMostDevices || range->begun == nullptr) {
    pool.release(*range);
    return nullptr;
  }
  range->stream = currentCudaStream();
  range->thread_id = gettid();  // not kept: a forked child has another
  return range;
}

void Timing::end(Range& range, const RecordFunction& function) noexcept {
  range.scope_ticks = function.beginTicks();
  if (range.run != number_ || range.scope_ticks == 0) return;
  int device = -1;
  try {
    range.ended_ticks = host_ticks_();
    stubs_.record(&device, &range.ended, nullptr);
  } catch (...) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (device != range.device || range.ended == nullptr) return;
  range.name = function.name();
  ended_.push(range);
}

DeviceTimeline& Timing::timelineOf(int device) {
  if (const auto found = timelines_.find(device); found != timelines_.end()) return found->second;
  return timelines_.try_emplace(device, static_cast<uint8_t>(device + 1), rate_).first->second;
}

// Ranges of one thread on one stream nest; those of two threads may not. So each pair of thread and stream has a row.
int64_t Timing::rowOf(const Range& range) {
  const auto key = std::pair(range.device, std::pair(range.stream, range.thread_id));
  if (const auto found = rows_.find(key); found != rows_.end()) return found->second;
  int64_t row = 0;
  for (const auto& [other, number] : rows_) row += other.first == range.device;
  rows_.emplace(key, row);
  const std::string stream =
      range.stream == nullptr ? "default stream" : fmt::format("stream {:#x}", reinterpret_cast<uintptr_t>(range.stream));
  if (row == 0) output_->row(range.device, -1, fmt::format("GPU {}", range.device), range.device);
  output_->row(range.device, row, fmt::format("{} of thread {}, by events", stream, range.thread_id), row);
  return row;
}

void Timing::put(const Range& range, const DeviceTimeline& timeline, int64_t begun, int64_t ended) noexcept {
  DeviceActivity call;
  call.role = DeviceRole::call;
  call.type = ActivityType::CUDA_RUNTIME;
  call.start = call.end = range.scope_ticks;
  call.process_id = process_id_;
  call.thread_id = range.thread_id;
  call.correlation = ++correlation_;
  call.kind = 1;
  call.name = output_->text("cudaEventRecord");
  output_->put(call);

  DeviceActivity work;
  work.clock = timeline.clock();
  work.start = static_cast<uint64_t>(begun);
  work.end = static_cast<uint64_t>(ended);
  work.process_id = range.device;
  work.thread_id = rowOf(range);
  work.correlation = call.correlation;
  work.name = output_->text(range.name);
  work.form = output_->text("\"device\": \x01, \"stream\": \x01");
  const int64_t values[] = {work.process_id, work.thread_id};
  work.values = values;
  work.value_count = 2;
  output_->put(work);
}

void Timing::settle(Range& range) noexcept {
  try {
    DeviceTimeline& timeline = timelineOf(range.device);
    const int64_t begun = timeline.place(stubs_, range.begun);
    const int64_t ended = timeline.place(stubs_, range.ended);
    const std::lock_guard lock(mutex_);
    if (output_ == nullptr) return;
    put(range, timeline, begun, ended);
    rate_.measure();
    timeline.note(begun, range.begun_ticks);
    timeline.note(ended, range.ended_ticks);
    timeline.mayRebase(range.ended, ended);
    if (timeline.due()) timeline.tell(*output_);
  } catch (...) {  // the device is in error, or the events are of different contexts
    ++unreadable_;
  }
}

void Timing::tellLosses() noexcept {
  if (const uint64_t lost = no_range_.exchange(0); lost != 0) output_->lost(DeviceLoss::buffers_full, lost);
  const uint64_t unreadable = refused_.exchange(0) + std::exchange(unreadable_, 0);
  if (unreadable != 0) output_->lost(DeviceLoss::unreadable, unreadable);
}

void Timing::work() noexcept {
  RangePool& pool = RangePool::instance();
  for (;;) {
    bool last = false;
    {
      const std::lock_guard lock(mutex_);
      last = draining_;  // asked before the list is taken: what ended before the drain is in it
    }
    // A thread may be inside for as long as the device's library keeps it there, which is not for drain() to wait for.
    if (last && callback_.load() != INVALID_CALLBACK_HANDLE) removeCallback(callback_.exchange(INVALID_CALLBACK_HANDLE));
    for (uint32_t place = ended_.takeAll(); place != 0;) {
      Range& range = pool.at(place);
      place = range.next;
      settle(range);
      pool.release(range);
    }
    std::unique_lock lock(mutex_);
    if (output_ == nullptr) break;
    tellLosses();
    if (last) {
      rate_.measure();
      for (auto& [device, timeline] : timelines_) timeline.tell(*output_);
      break;
    }
    changed_.wait_for(lock, kPause, [&] { return draining_; });
  }
  // drain() may have given up while this thread was held by the device.
  if (callback_.load() != INVALID_CALLBACK_HANDLE) removeCallback(callback_.exchange(INVALID_CALLBACK_HANDLE));
  timelines_.clear();  // their base events
  pool.dropEvents();
  const std::lock_guard lock(mutex_);
  done_ = true;
  changed_.notify_all();
}

bool Timing::drain(std::chrono::steady_clock::time_point deadline) noexcept {
  std::unique_lock lock(mutex_);
  draining_ = true;
  changed_.notify_all();
  const bool done = changed_.wait_until(lock, deadline, [&] { return done_; });
  output_ = nullptr;
  return done;
}

}  // namespace xsigma::profiler::backends::cuda_events
