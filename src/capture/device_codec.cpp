#include "capture/device_codec.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "capture/sink.h"

namespace xsigma::profiler::capture {
namespace {

constexpr uint32_t kHeadWords = 6;  // head, tick, what it is, name, form, bytes
constexpr size_t kMostBytesEach = 10;
constexpr size_t kFixedNumbers = 8;

char* putNumber(char* at, uint64_t value) noexcept {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}

char* putSigned(char* at, int64_t value) noexcept {
  return putNumber(at, static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
}

bool takeNumber(std::string_view& from, uint64_t& value) noexcept {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(from.front());
    from.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

bool takeSigned(std::string_view& from, int64_t& value) noexcept {
  uint64_t raw = 0;
  if (!takeNumber(from, raw)) return false;
  value = static_cast<int64_t>(raw >> 1 ^ (~(raw & 1) + 1));
  return true;
}

}  // namespace

void putDevice(Writer& writer, uint64_t ticks, const DeviceActivity& activity) noexcept {
  std::array<char, (kFixedNumbers + kMostDeviceValues) * kMostBytesEach> packed;
  char* at = packed.data();
  at = putSigned(at, static_cast<int64_t>(activity.clock == kHostClock ? activity.start - ticks : activity.start));
  at = putNumber(at, activity.end >= activity.start ? activity.end - activity.start : 0);
  at = putSigned(at, activity.process_id);
  at = putSigned(at, activity.thread_id);
  at = putNumber(at, activity.correlation);
  at = putNumber(at, activity.node);
  at = putNumber(at, activity.origin);
  at = putNumber(at, activity.kind);
  for (uint32_t i = 0; i < std::min(activity.value_count, kMostDeviceValues); ++i) at = putSigned(at, activity.values[i]);
  const auto bytes = static_cast<size_t>(at - packed.data());
  const auto words = static_cast<uint32_t>(kHeadWords + (bytes + 3) / 4);
  if (words > writer.sink()->maxRecordWords() || !writer.ensure(words, ticks)) return writer.countExtraDrop();
  uint32_t* const record = writer.next();
  record[0] = sizedHead(Code::device, words);
  record[1] = Writer::delta(ticks);
  record[2] = static_cast<uint32_t>(activity.role) | static_cast<uint32_t>(activity.clock) << 8 |
              static_cast<uint32_t>(activity.type) << 16 | static_cast<uint32_t>(activity.failed) << 24;
  record[3] = activity.name;
  record[4] = activity.form;
  record[5] = static_cast<uint32_t>(bytes);
  record[words - 1] = 0;
  std::memcpy(record + kHeadWords, packed.data(), bytes);
  writer.commit(words, 1);
}

void putDeviceClock(Writer& writer, uint64_t ticks, uint8_t clock, uint64_t device_ticks, uint64_t host_ticks) noexcept {
  constexpr uint32_t kWords = 7;
  if (!writer.ensure(kWords, ticks)) return writer.countExtraDrop();
  uint32_t* const record = writer.next();
  record[0] = sizedHead(Code::device_clock, kWords);
  record[1] = Writer::delta(ticks);
  record[2] = clock;
  std::memcpy(record + 3, &device_ticks, sizeof device_ticks);
  std::memcpy(record + 5, &host_ticks, sizeof host_ticks);
  writer.commit(kWords, 0);
}

bool decodeDevice(const RawRecord& record, DeviceRecord& to) noexcept {
  DeviceActivity& activity = to.activity;
  const uint32_t what = record.word(0);
  activity.role = static_cast<DeviceRole>(what & 0xFF);
  activity.clock = static_cast<uint8_t>(what >> 8);
  activity.type = static_cast<libkineto::ActivityType>(what >> 16 & 0xFF);
  activity.failed = (what >> 24 & 1) != 0;
  activity.name = record.word(1);
  activity.form = record.word(2);
  std::string_view left = record.text(3);
  int64_t start = 0;
  uint64_t duration = 0;
  uint64_t kind = 0;
  const bool whole = takeSigned(left, start) && takeNumber(left, duration) && takeSigned(left, activity.process_id) &&
                     takeSigned(left, activity.thread_id) && takeNumber(left, activity.correlation) && takeNumber(left, activity.node) &&
                     takeNumber(left, activity.origin) && takeNumber(left, kind);
  if (!whole || activity.role > DeviceRole::pending || activity.type >= libkineto::ActivityType::ENUM_COUNT) return false;
  activity.start = static_cast<uint64_t>(start) + (activity.clock == kHostClock ? record.ticks : 0);
  activity.end = activity.start + duration;
  activity.kind = static_cast<uint32_t>(kind);
  to.values = left;
  return true;
}

int64_t DeviceValues::next() noexcept {
  int64_t value = 0;
  if (!takeSigned(left_, value)) left_ = {};
  return value;
}

}  // namespace xsigma::profiler::capture
