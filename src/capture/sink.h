// Sink: one capture being written. Header, tables, clock pairs and the pool that writers draw from.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "capture/block_pool.h"
#include "capture/format.h"
#include "capture/name_table.h"
#include "capture/store.h"
#include "xsigma/profiler/capture.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler::capture {

class Sink {
 public:
  // Creates the store and writes the header. The options have been checked. `ids` is the process's counter of scope ids.
  static Expected<std::unique_ptr<Sink>> create(const CaptureOptions& options, bool counter_is_clock, std::atomic<uint64_t>& ids);

  // Gives a file its name. Everything known so far should be in the tables by then.
  Status publish() { return store_.publish(); }

  void addString(uint32_t id, std::string_view text) noexcept;
  void addSite(uint32_t id, const Site& site) noexcept;
  // A property of the whole capture; the value is JSON, of at most kMaxStringBytes.
  void addProperty(std::string_view key, std::string_view json) noexcept;
  void addModule(std::string_view path, std::string_view build_id, uint64_t start, uint64_t end, uint64_t bias) noexcept;
  // The number of these frames in this capture; 0 when the tables are full.
  uint32_t internStack(const uint64_t* frames, uint32_t count) noexcept;
  void addThreadName(uint32_t index, uint32_t name) noexcept;
  // Null when the tables are full; the thread's scopes are then counted as dropped, here.
  ThreadRecord* addThread(int32_t system_id, uint64_t logical_id, uint32_t name) noexcept;
  ThreadDropsRecord* addThreadDrops(uint32_t index) noexcept;
  // The number of a name that belongs to this capture alone; 0 when the tables are full.
  uint32_t addOwnSite(std::string_view name) noexcept;
  // As a thread, for records of devices.
  ThreadRecord* addDeviceThread(std::string_view name) noexcept;
  void addDeviceRow(int64_t process_id, int64_t thread_id, std::string_view name, int64_t sort_index) noexcept;
  void countDeviceLoss(size_t cause, uint64_t amount) noexcept;
  void count(HeaderCounter counter, uint64_t amount = 1) noexcept;
  void countDrop(LossCause cause, uint64_t amount = 1) noexcept {
    count(static_cast<HeaderCounter>(kHeaderDrops + static_cast<size_t>(cause)), amount);
  }

  // Takes a clock pair if the last one is old enough. Called at every block that is handed out.
  void tickClock() noexcept;
  // The recording ends for threads; what devices still have may come until stop().
  template <typename Freeze>
  void stopThreads(Freeze freeze) {
    stopped_at_ = base::takeClockPair(counterIsClock());
    pool_.stopThreads(freeze);
  }
  // Stops the pool while `freeze` runs, then writes the stop record and cuts the file.
  template <typename Freeze>
  void stop(Freeze freeze) {
    pool_.stop(freeze);
    finish();
  }

  BlockPool& pool() noexcept { return pool_; }
  uint64_t drawIds(uint32_t count) noexcept { return ids_.fetch_add(count, std::memory_order_relaxed); }
  const char* image() const noexcept { return store_.base(); }
  const std::string& path() const noexcept { return store_.path(); }
  // The longest record, in words, that fits a block of this capture.
  uint32_t maxRecordWords() const noexcept { return max_record_words_; }
  bool orderedEnd() const noexcept { return (header().file.flags & kOrderedEnd) != 0; }
  bool recordsInputs() const noexcept { return (header().file.flags & kRecordsInputs) != 0; }
  Sink* next_retired = nullptr;  // in the list of those that wait to be unmapped

  bool counterIsClock() const noexcept { return (header().file.flags & kCounterIsClock) != 0; }

 private:
  Sink(Store store, const CaptureOptions& options, size_t byte_cap, std::atomic<uint64_t>& ids);

  HeaderPage& header() const noexcept { return *reinterpret_cast<HeaderPage*>(store_.base()); }
  // Room for a table record, zeroed; publish with commit(). Null when full.
  uint32_t addOwnString(std::string_view text) noexcept;
  void putString(uint32_t id, std::string_view text) noexcept;
  ThreadRecord* putThread(int32_t system_id, uint64_t logical_id, uint32_t name) noexcept;
  void* reserveRecord(size_t bytes) noexcept;
  void commitRecord() noexcept;
  void addClockPair(const base::ClockPair& pair) noexcept;
  void finish() noexcept;

  Store store_;
  BlockPool pool_;
  std::atomic<uint64_t>& ids_;
  uint32_t max_record_words_ = 0;

  std::mutex table_mutex_;
  BlockHeader* table_ = nullptr;
  uint32_t reserved_words_ = 0;
  uint32_t thread_count_ = 0;
  uint32_t own_strings_ = kOwnStrings;
  uint32_t own_sites_ = kOwnSites;
  DeviceLossesRecord* device_losses_ = nullptr;
  std::unordered_map<uint64_t, uint32_t> stacks_;  // by hash

  std::mutex clock_mutex_;
  uint32_t clock_count_ = 0;
  std::atomic<int64_t> next_clock_ns_{0};
  int64_t clock_interval_ns_ = 100'000'000;
  base::ClockPair stopped_at_{};  // for threads, where devices went on
};

}  // namespace xsigma::profiler::capture
