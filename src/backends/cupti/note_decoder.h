// NoteDecoder: synchronisation and events, as activities. A wait is linked to the record of the event that it waited for, which may be read later: waits are
// kept back for one period.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/cupti/device_rows.h"
#include "backends/cupti/records.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::cupti {

class NoteDecoder {
 public:
  // `syncs`, `events`: which of them are put; events are needed for waits in any case.
  NoteDecoder(DeviceRows& rows, BackendOutput& output, bool syncs, bool events)
      : rows_(rows), output_(output), syncs_(syncs), events_(events) {}

  void put(const SyncRecord& sync);
  void put(const EventRecord& event);
  // A period has passed: what was kept back before the last one goes out.
  void tick();
  void finish();

  // Of what is on no stream, like waiting for a whole device. CUPTI numbers no stream so.
  static constexpr int64_t kNoStreamRow = 0;

 private:
  struct Recorded {
    uint32_t correlation = 0;
    uint32_t stream = 0;
  };
  struct Held {
    SyncRecord sync{};
    uint64_t period = 0;
  };

  void putNow(const SyncRecord& sync);
  const Recorded* recordOf(const SyncRecord& sync) const;
  static std::vector<Recorded>::const_iterator firstAfter(const std::vector<Recorded>& sorted, uint32_t correlation);
  void forgetOldEvents();

  DeviceRows& rows_;
  BackendOutput& output_;
  bool syncs_;
  bool events_;
  uint64_t period_ = 0;
  std::deque<Held> held_;
  // Which records there were of an event, by context and event; sorted by correlation.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Recorded>> by_event_;
  std::unordered_map<uint64_t, Recorded> by_sync_;
  size_t remembered_ = 0;
};

}  // namespace xsigma::profiler::backends::cupti
