#include "capture/sink.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/checksum.h"
#include "capture/block_check.h"
#include "capture/table_record.h"

namespace xsigma::profiler::capture {
namespace {

constexpr size_t kUnboundedReserve = size_t{256} << 30;
constexpr size_t kLeastReserve = size_t{1} << 30;

Expected<Store> createStore(const CaptureOptions& options) {
  if (options.policy != CapturePolicy::unbounded) return Store::create(options.path, options.byte_cap);
  for (size_t reserve = kUnboundedReserve;; reserve /= 4) {
    Expected<Store> store = Store::create(options.path, reserve);
    if (store.ok() || reserve <= kLeastReserve) return store;
  }
}

void add(std::atomic<uint64_t>& counter, uint64_t amount) noexcept {
  uint64_t old = counter.load(std::memory_order_relaxed);
  while (!counter.compare_exchange_weak(old, base::packChecked(base::unpackChecked(old) + amount), std::memory_order_relaxed)) {
  }
}

}  // namespace

Expected<std::unique_ptr<Sink>> Sink::create(const CaptureOptions& options, bool counter_is_clock, std::atomic<uint64_t>& ids) {
  Expected<Store> store = createStore(options);
  if (!store) return store.status();
  const size_t byte_cap = options.policy == CapturePolicy::unbounded ? store->reservedBytes() : options.byte_cap;
  std::unique_ptr<Sink> sink(new Sink(std::move(*store), options, byte_cap, ids));

  const base::ClockPair start = base::takeClockPair(counter_is_clock);
  FileHeader& file = sink->header().file;
  file.magic = kFileMagic;
  file.version_major = kVersionMajor;
  file.version_minor = kVersionMinor;
  file.flags = options.ordered_end * kOrderedEnd | counter_is_clock * kCounterIsClock | options.record_inputs * kRecordsInputs;
  file.byte_cap = options.policy == CapturePolicy::unbounded ? 0 : options.byte_cap;
  file.chunk_bytes = static_cast<uint32_t>(sink->pool_.chunkBytes());
  file.policy = static_cast<uint8_t>(options.policy);
  file.process_id = getpid();
  file.start_ticks = start.ticks;
  file.start_monotonic_ns = start.monotonic_ns;
  file.start_realtime_ns = start.monotonic_ns + (base::realtimeNs() - base::monotonicNs());
  file.ticks_per_ms = base::ticksPerMillisecond(counter_is_clock);
  file.crc = base::crc32(&file, offsetof(FileHeader, crc));
  sink->addClockPair(start);
  sink->table_ = sink->pool_.takeTable();
  if (sink->table_ == nullptr) {
    return Status(StatusCode::io_error,
                  fmt::format("cannot get disk space for the first {} bytes of the capture '{}'. Free some space, or record elsewhere",
                              2 * kPageBytes, options.path));
  }
  return sink;
}

Sink::Sink(Store store, const CaptureOptions& options, size_t byte_cap, std::atomic<uint64_t>& ids)
    : store_(std::move(store)), pool_(store_, options.policy, byte_cap), ids_(ids) {
  max_record_words_ = std::min(kMaxRecordUnits, static_cast<uint32_t>(pool_.chunkBytes() / 4) - kBlockHeaderWords - kSegmentWords);
}

void* Sink::reserveRecord(size_t bytes) noexcept {
  const auto words = static_cast<uint32_t>(bytes / 4);
  if (table_ == nullptr || roomInBlock(*table_) < words) {
    BlockHeader* const next = pool_.takeTable();
    if (next == nullptr) return nullptr;
    table_ = next;
  }
  reserved_words_ = words;
  const auto at = cursorWords(table_->cursor.load(std::memory_order_relaxed));
  auto* const record = reinterpret_cast<uint32_t*>(table_) + at;
  std::memset(record, 0, bytes);
  return record;
}

void Sink::commitRecord() noexcept {
  table_->cursor.store(table_->cursor.load(std::memory_order_relaxed) + packedStep(reserved_words_, 0), std::memory_order_release);
}

void Sink::addString(uint32_t id, std::string_view text) noexcept {
  const std::lock_guard lock(table_mutex_);
  putString(id, text);
}

void Sink::putString(uint32_t id, std::string_view text) noexcept {
  for (size_t offset = 0; offset < text.size(); offset += kStringPartBytes) {
    const std::string_view part = text.substr(offset, kStringPartBytes);
    const size_t bytes = tableBytes(sizeof(StringRecord) + part.size());
    auto* const record = static_cast<StringRecord*>(reserveRecord(bytes));
    if (record == nullptr) return count(kHeaderNamesDropped);
    record->id = id;
    record->total_bytes = static_cast<uint32_t>(text.size());
    record->part_offset = static_cast<uint32_t>(offset);
    record->part_bytes = static_cast<uint32_t>(part.size());
    std::memcpy(record + 1, part.data(), part.size());
    sealTableRecord(record, Code::string, bytes, bytes);
    commitRecord();
  }
}

uint32_t Sink::addOwnString(std::string_view text) noexcept {
  putString(own_strings_, text.substr(0, kMaxStringBytes));
  return own_strings_++;
}

void Sink::addProperty(std::string_view key, std::string_view json) noexcept {
  const std::lock_guard lock(table_mutex_);
  const uint32_t key_id = addOwnString(key);
  const uint32_t value_id = addOwnString(json);
  auto* const record = static_cast<PropertyRecord*>(reserveRecord(sizeof(PropertyRecord)));
  if (record == nullptr) return count(kHeaderNamesDropped);
  record->key = key_id;
  record->value = value_id;
  sealTableRecord(record, Code::property, sizeof(PropertyRecord), sizeof(PropertyRecord));
  commitRecord();
}

void Sink::addModule(std::string_view path, std::string_view build_id, uint64_t start, uint64_t end, uint64_t bias) noexcept {
  const std::lock_guard lock(table_mutex_);
  const uint32_t path_id = addOwnString(path);
  const uint32_t build_id_id = addOwnString(build_id);
  auto* const record = static_cast<ModuleRecord*>(reserveRecord(sizeof(ModuleRecord)));
  if (record == nullptr) return count(kHeaderNamesDropped);
  record->path = path_id;
  record->build_id = build_id_id;
  record->start = start;
  record->end = end;
  record->bias = bias;
  sealTableRecord(record, Code::module, sizeof(ModuleRecord), sizeof(ModuleRecord));
  commitRecord();
}

uint32_t Sink::internStack(const uint64_t* frames, uint32_t count) noexcept {
  uint64_t hash = count;
  for (uint32_t i = 0; i < count; ++i) hash = (hash ^ frames[i]) * 0x9E3779B97F4A7C15u ^ hash >> 29;
  const std::lock_guard lock(table_mutex_);
  try {
    const auto [entry, fresh] = stacks_.try_emplace(hash, static_cast<uint32_t>(stacks_.size() + 1));
    if (!fresh) return entry->second;
    const size_t bytes = sizeof(StackRecord) + count * sizeof(uint64_t);
    auto* const record = static_cast<StackRecord*>(reserveRecord(bytes));
    if (record == nullptr) {
      this->count(kHeaderNamesDropped);
      return entry->second = 0;
    }
    record->id = entry->second;
    record->count = count;
    std::memcpy(record + 1, frames, count * sizeof(uint64_t));
    sealTableRecord(record, Code::stack_frames, bytes, bytes);
    commitRecord();
    return entry->second;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

void Sink::addSite(uint32_t id, const Site& site) noexcept {
  const std::lock_guard lock(table_mutex_);
  auto* const record = static_cast<SiteRecord*>(reserveRecord(sizeof(SiteRecord)));
  if (record == nullptr) return count(kHeaderNamesDropped);
  record->id = id;
  record->name = site.name;
  record->file = site.file;
  record->line = site.line;
  record->scope = static_cast<uint32_t>(site.scope);
  sealTableRecord(record, Code::site, sizeof(SiteRecord), sizeof(SiteRecord));
  commitRecord();
}

ThreadRecord* Sink::addThread(int32_t system_id, uint64_t logical_id, uint32_t name) noexcept {
  const std::lock_guard lock(table_mutex_);
  return putThread(system_id, logical_id, name);
}

ThreadRecord* Sink::putThread(int32_t system_id, uint64_t logical_id, uint32_t name) noexcept {
  auto* const record = static_cast<ThreadRecord*>(reserveRecord(sizeof(ThreadRecord)));
  if (record == nullptr) {
    count(kHeaderThreadsDropped);
    return nullptr;
  }
  record->index = thread_count_++;
  record->system_id = system_id;
  record->logical_id = static_cast<uint32_t>(logical_id);
  record->name = name;
  sealTableRecord(record, Code::thread, sizeof(ThreadRecord), offsetof(ThreadRecord, begins_closed));
  commitRecord();
  return record;
}

void Sink::addThreadName(uint32_t index, uint32_t name) noexcept {
  const std::lock_guard lock(table_mutex_);
  auto* const record = static_cast<ThreadNameRecord*>(reserveRecord(sizeof(ThreadNameRecord)));
  if (record == nullptr) return count(kHeaderNamesDropped);
  record->index = index;
  record->name = name;
  sealTableRecord(record, Code::thread_name, sizeof(ThreadNameRecord), sizeof(ThreadNameRecord));
  commitRecord();
}

ThreadDropsRecord* Sink::addThreadDrops(uint32_t index) noexcept {
  const std::lock_guard lock(table_mutex_);
  auto* const record = static_cast<ThreadDropsRecord*>(reserveRecord(sizeof(ThreadDropsRecord)));
  if (record == nullptr) return nullptr;
  record->index = index;
  sealTableRecord(record, Code::thread_drops, sizeof(ThreadDropsRecord), offsetof(ThreadDropsRecord, extras));
  commitRecord();
  return record;
}

uint32_t Sink::addOwnSite(std::string_view name) noexcept {
  const std::lock_guard lock(table_mutex_);
  if (own_sites_ >= kMaxSites) {
    count(kHeaderNamesDropped);
    return 0;
  }
  const uint32_t string = addOwnString(name);
  auto* const record = static_cast<SiteRecord*>(reserveRecord(sizeof(SiteRecord)));
  if (record == nullptr) {
    count(kHeaderNamesDropped);
    return 0;
  }
  record->id = own_sites_;
  record->name = string;
  sealTableRecord(record, Code::site, sizeof(SiteRecord), sizeof(SiteRecord));
  commitRecord();
  return own_sites_++;
}

ThreadRecord* Sink::addDeviceThread(std::string_view name) noexcept {
  const std::lock_guard lock(table_mutex_);
  return putThread(kDeviceThread, 0, addOwnString(name));
}

void Sink::addDeviceRow(int64_t process_id, int64_t thread_id, std::string_view name, int64_t sort_index) noexcept {
  const std::lock_guard lock(table_mutex_);
  const uint32_t string = addOwnString(name);
  auto* const record = static_cast<DeviceRowRecord*>(reserveRecord(sizeof(DeviceRowRecord)));
  if (record == nullptr) return count(kHeaderNamesDropped);
  record->process_id = process_id;
  record->thread_id = thread_id;
  record->sort_index = sort_index;
  record->name = string;
  sealTableRecord(record, Code::device_row, sizeof(DeviceRowRecord), sizeof(DeviceRowRecord));
  commitRecord();
}

void Sink::countDeviceLoss(size_t cause, uint64_t amount) noexcept {
  if (cause >= kDeviceLossCounters) return;
  const std::lock_guard lock(table_mutex_);
  if (device_losses_ == nullptr) {
    auto* const record = static_cast<DeviceLossesRecord*>(reserveRecord(sizeof(DeviceLossesRecord)));
    if (record == nullptr) return count(kHeaderExtrasDropped, amount);
    sealTableRecord(record, Code::device_losses, sizeof(DeviceLossesRecord), offsetof(DeviceLossesRecord, causes));
    commitRecord();
    device_losses_ = record;
  }
  add(device_losses_->causes[cause], amount);
}

void Sink::count(HeaderCounter counter, uint64_t amount) noexcept { add(header().counters[counter], amount); }

void Sink::tickClock() noexcept {
  const int64_t now = base::monotonicNs();
  if (now < next_clock_ns_.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(clock_mutex_, std::try_to_lock);
  if (lock.owns_lock() && now >= next_clock_ns_.load(std::memory_order_relaxed)) addClockPair(base::takeClockPair(counterIsClock()));
}

// When the table is full every other pair goes and the interval doubles: hours of pairs in a page.
void Sink::addClockPair(const base::ClockPair& pair) noexcept {
  ClockEntry* const entries = header().clock;
  if (clock_count_ == kClockEntries) {
    clock_count_ = kClockEntries / 2;
    for (uint32_t i = 1; i < clock_count_; ++i) entries[i] = entries[2 * i];
    for (uint32_t i = clock_count_; i < kClockEntries; ++i) entries[i] = ClockEntry{};
    clock_interval_ns_ *= 2;
  }
  ClockEntry entry{pair.ticks, pair.monotonic_ns, 1, 0};
  entry.crc = base::crc32(&entry, offsetof(ClockEntry, crc));
  entries[clock_count_++] = entry;
  next_clock_ns_.store(pair.monotonic_ns + clock_interval_ns_, std::memory_order_relaxed);
}

void Sink::finish() noexcept {
  const base::ClockPair now = stopped_at_.ticks != 0 ? stopped_at_ : base::takeClockPair(counterIsClock());
  StopRecord stop{now.ticks, now.monotonic_ns, pool_.usedBytes(), 0, 0};
  stop.crc = base::crc32(&stop, offsetof(StopRecord, crc));
  header().stop = stop;
  store_.trim(stop.bytes_used);
}

}  // namespace xsigma::profiler::capture
