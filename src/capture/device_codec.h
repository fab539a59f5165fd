// Records of devices: what a backend saw, packed.
//
//   [role | clock << 8 | type << 16 | failed << 24][name][form][bytes][start − tick of the record, or start on another clock · duration · process ·
//   thread · correlation · node · origin · kind · values …], numbers of 7 bits a byte, signed ones zigzag
//
// Segments count them as they count the scopes of a thread: what a ring has overwritten shows.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "capture/record_walk.h"
#include "capture/writer.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::capture {

// Writes one record, or counts it as dropped. Values beyond what a record can hold are cut.
void putDevice(Writer& writer, uint64_t ticks, const DeviceActivity& activity) noexcept;
void putDeviceClock(Writer& writer, uint64_t ticks, uint8_t clock, uint64_t device_ticks, uint64_t host_ticks) noexcept;

// An activity as it was recorded. Its values stay packed: DeviceValues reads them.
struct DeviceRecord {
  DeviceActivity activity;  // without values
  std::string_view values;  // as long as the record's words are
};
// False if the bytes make no sense.
bool decodeDevice(const RawRecord& record, DeviceRecord& to) noexcept;

// The numbers behind a form, one after the other.
class DeviceValues {
 public:
  explicit DeviceValues(std::string_view packed) : left_(packed) {}
  // 0 when there are no more.
  int64_t next() noexcept;
  bool atEnd() const noexcept { return left_.empty(); }

 private:
  std::string_view left_;
};

// Whether this capture's records of a thread are those of devices.
inline bool isDeviceThread(const ThreadInfo& thread) noexcept { return thread.system_id == kDeviceThread; }

}  // namespace xsigma::profiler::capture
