#include "library.h"

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

namespace xsigma::standin {

namespace {

std::atomic<int> ending_threads{0};

// What CUPTI keeps for a thread that calls it, and frees when that ends.
struct Presence {
  ~Presence() {
    ++ending_threads;
    std::this_thread::sleep_for(std::chrono::milliseconds(Library::get().behaviour().slow_ends_ms));
    --ending_threads;
  }
};

}  // namespace

Library& Library::get() {
  static Library& library = *new Library;
  static thread_local const Presence presence;
  static_cast<void>(presence);
  return library;
}

void Library::behave(const Behaviour& behaviour) {
  const std::lock_guard lock(mutex_);
  behaviour_ = behaviour;
}

Behaviour Library::behaviour() {
  const std::lock_guard lock(mutex_);
  return behaviour_;
}

bool Library::load(const std::string& path, std::string* why) {
  std::string reason;
  std::optional<Recording> recording = Recording::read(path, reason);
  if (why != nullptr) *why = reason;
  if (!recording) return false;
  const std::lock_guard lock(mutex_);
  recording_ = *std::move(recording);
  return true;
}

Seen Library::seen() {
  const std::lock_guard lock(mutex_);
  return seen_;
}

void Library::note(void (*change)(Seen&)) {
  const std::lock_guard lock(mutex_);
  change(seen_);
}

uint32_t Library::version() {
  const std::lock_guard lock(mutex_);
  return behaviour_.version != 0 ? behaviour_.version : recording_.version;
}

CUptiResult Library::initialised() {
  const std::lock_guard lock(mutex_);
  return behaviour_.no_driver ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_SUCCESS;
}

CUptiResult Library::subscribe(CUpti_CallbackFunc callback, void* data) {
  while (behaviour().kept_out) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::lock_guard lock(mutex_);
  if (behaviour_.no_driver) return CUPTI_ERROR_NOT_INITIALIZED;
  if (behaviour_.another_subscriber || seen_.subscribed) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  callback_ = callback;
  callback_data_ = data;
  seen_.subscribed = true;
  return CUPTI_SUCCESS;
}

CUptiResult Library::unsubscribe() {
  const std::lock_guard lock(mutex_);
  if (!seen_.subscribed) {
    ++seen_.stale_unsubscribes;
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  callback_ = nullptr;
  callbacks_on_.clear();
  seen_.subscribed = false;
  return CUPTI_SUCCESS;
}

CUptiResult Library::enableCallback(bool on, CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  const std::lock_guard lock(mutex_);
  if (!seen_.subscribed) return CUPTI_ERROR_INVALID_PARAMETER;
  if (on) {
    callbacks_on_.insert({domain, cbid});
  } else {
    callbacks_on_.erase({domain, cbid});
  }
  return CUPTI_SUCCESS;
}

void Library::call(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const char* function, int result) {
  CUpti_CallbackFunc callback = nullptr;
  void* data = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (callbacks_on_.count({domain, cbid}) + callbacks_on_.count({domain, kEveryCall}) > 0) callback = callback_;
    data = callback_data_;
  }
  if (callback == nullptr) return;
  CUpti_CallbackData told{};
  told.functionName = function;
  told.functionReturnValue = &result;
  for (const CUpti_ApiCallbackSite site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
    told.callbackSite = site;
    callback(data, domain, cbid, &told);
  }
}

CUptiResult Library::enable(CUpti_ActivityKind kind, bool on) {
  const uint64_t at = now();
  const std::lock_guard lock(mutex_);
  if (behaviour_.no_driver) return CUPTI_ERROR_NOT_INITIALIZED;
  if (on) {
    if (seen_.enabled_kinds.empty() && enabled_at_ == 0) enabled_at_ = at;
    seen_.enabled_kinds.insert(kind);
    std::erase_if(calls_off_,
                  [&](const auto& call) { return call.first == static_cast<uint32_t>(kind); });  // a kind comes with all its calls
    seen_.ever_enabled_kinds.insert(kind);
  } else {
    seen_.enabled_kinds.erase(kind);
  }
  return CUPTI_SUCCESS;
}

CUptiResult Library::enableCall(CUpti_ActivityKind kind, CUpti_CallbackId cbid, bool on) {
  const std::lock_guard lock(mutex_);
  if (behaviour_.no_driver) return CUPTI_ERROR_NOT_INITIALIZED;
  if (on) {
    calls_off_.erase({kind, cbid});
  } else {
    calls_off_.insert({kind, cbid});
  }
  return CUPTI_SUCCESS;
}

CUptiResult Library::registerBuffers(CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed) {
  if (requested == nullptr || completed == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard lock(mutex_);
  requested_ = requested;
  completed_ = completed;
  return CUPTI_SUCCESS;
}

CUptiResult Library::registerClock(uint64_t (*clock)()) {
  if (clock == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard lock(mutex_);
  clock_ = clock;
  seen_.timestamp_callback = true;
  return CUPTI_SUCCESS;
}

uint64_t Library::now() {
  uint64_t (*clock)() = nullptr;
  {
    const std::lock_guard lock(mutex_);
    clock = clock_;
  }
  if (clock != nullptr) return clock();
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

CUptiResult Library::nextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  uint8_t* next = buffer;
  if (*record != nullptr) {
    uint32_t kind = 0;
    std::memcpy(&kind, *record, sizeof kind);
    const std::lock_guard lock(mutex_);
    const auto found = bytes_of_kind_.find(kind);
    if (found == bytes_of_kind_.end()) return CUPTI_ERROR_INVALID_KIND;
    next = reinterpret_cast<uint8_t*>(*record) + found->second;
  }
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult Library::flush(bool forced) {
  if (const CUptiResult result = initialised(); result != CUPTI_SUCCESS) return result;
  std::vector<Buffer> due;
  {
    const std::lock_guard lock(mutex_);
    ++seen_.flushes;
    seen_.forced_flushes += forced;
    const bool is_done = --late_flushes_ <= 0;
    if (is_done || forced) due.swap(waiting_);
    if (filling_ && (is_done || forced || filling_->undone.empty())) due.push_back(*std::exchange(filling_, std::nullopt));
    for (Buffer& buffer : due) {
      if (!is_done) withoutTimes(buffer);
    }
  }
  for (const Buffer& buffer : due) complete(buffer, false);
  return CUPTI_SUCCESS;
}

CUptiResult Library::takeDropped(size_t* dropped) {
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard lock(mutex_);
  if (behaviour_.no_driver) return CUPTI_ERROR_NOT_INITIALIZED;
  *dropped = std::exchange(dropped_, 0);
  return CUPTI_SUCCESS;
}

CUptiResult Library::finalize() {
  std::this_thread::sleep_for(std::chrono::milliseconds(behaviour().slow_finalize_ms));
  flush(true);
  const std::lock_guard lock(mutex_);
  if (behaviour_.no_driver) return CUPTI_ERROR_NOT_INITIALIZED;
  ++seen_.finalized;
  if (ending_threads != 0) ++seen_.finalized_beside_an_end;
  seen_.enabled_kinds.clear();
  seen_.subscribed = seen_.timestamp_callback = seen_.event_timestamps = seen_.system_thread_ids = false;
  callback_ = nullptr;
  callbacks_on_.clear();
  calls_off_.clear();
  requested_ = nullptr;
  completed_ = nullptr;
  clock_ = nullptr;
  enabled_at_ = 0;
  return CUPTI_SUCCESS;
}

void Library::complete(const Buffer& buffer, bool on_another_thread) {
  CUpti_BuffersCallbackCompleteFunc completed = nullptr;
  {
    const std::lock_guard lock(mutex_);
    completed = completed_;
    --seen_.buffers_out;
  }
  const auto tell = [&] {
    if (completed != nullptr) completed(nullptr, 0, buffer.bytes, buffer.size, buffer.used);
  };
  if (on_another_thread) {
    std::thread(tell).join();
  } else {
    tell();
  }
}

void Library::write(const std::vector<uint8_t>& record) {
  const std::lock_guard one_by_one(writing_);
  std::optional<Buffer> full;
  {
    const std::lock_guard lock(mutex_);
    const bool no_room = filling_ && (filling_->used + record.size() > filling_->size ||
                                      (filling_->max_records != 0 && filling_->records == filling_->max_records));
    if (no_room) full = std::exchange(filling_, std::nullopt);
    if (full && !full->undone.empty() && late_flushes_ > 0) waiting_.push_back(*std::exchange(full, std::nullopt));
  }
  if (full) complete(*full, true);

  CUpti_BuffersCallbackRequestFunc requested = nullptr;
  Buffer fresh;
  {
    const std::lock_guard lock(mutex_);
    if (!filling_) requested = requested_;
    seen_.buffers_requested += requested != nullptr;
  }
  if (requested != nullptr) requested(&fresh.bytes, &fresh.size, &fresh.max_records);

  const std::lock_guard lock(mutex_);
  if (requested != nullptr && fresh.bytes == nullptr) ++seen_.buffers_refused;
  if (fresh.bytes != nullptr) {
    ++seen_.buffers_out;
    filling_ = fresh;
  }
  if (!filling_ || filling_->used + record.size() > filling_->size) {
    ++dropped_;
    ++seen_.records_dropped;
    return;
  }
  if (late_flushes_ > 0 && isWork(record)) filling_->undone.push_back(filling_->used);
  std::memcpy(filling_->bytes + filling_->used, record.data(), record.size());
  filling_->used += record.size();
  ++filling_->records;
  uint32_t kind = 0;
  std::memcpy(&kind, record.data(), sizeof kind);
  bytes_of_kind_[kind] = record.size();
  ++seen_.records_written;
  ++seen_.written_by_kind[kind];
}

}  // namespace xsigma::standin
