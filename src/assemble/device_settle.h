// DeviceSettle: turns linked device events into events of the trace: rows, annotations, arrows, arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "assemble/device_annotations.h"
#include "assemble/device_events.h"
#include "assemble/leftovers.h"
#include "capture/source.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::assemble {

class DeviceSettle {
 public:
  // The events are linked. Gives the totals their devices and rows.
  DeviceSettle(DeviceEvents& events, const capture::Tables& tables, const std::vector<Leftovers>& leftovers, int64_t process_id,
               TraceTotals& totals);

  // What is still to be placed; of those that tie the outer one first.
  void addPlaces(std::vector<Placed*>& places);
  // After placing. `done` is called after each event that was appended. What the deadline leaves no time for is left out; DeviceEvents::late() tells.
  void emit(EventBatch& batch, TraceTotals& totals, uint64_t& next_ordinal, const std::function<void()>& done);

 private:
  bool inTime();
  void findPlaces(int64_t process_id);
  void addRows(TraceTotals& totals) const;
  void emitEvent(const DeviceEvent& event, EventBatch& batch, TraceTotals& totals, uint64_t ordinal);
  void addArrows(size_t emitted, TraceTotals& totals) const;
  const DeviceEvent* callOf(const DeviceEvent& event) const { return event.call != kNoEvent ? &events_.all[event.call] : nullptr; }
  std::string argsOf(const DeviceEvent& event, bool before_launch, TraceTotals& totals);
  bool sound(uint32_t form);

  DeviceEvents& events_;
  const capture::Tables& tables_;
  DeviceAnnotations annotations_;
  std::unordered_map<uint32_t, bool> sound_forms_;
  uint64_t arg_bytes_left_;  // for the arguments of all events
};

}  // namespace xsigma::profiler::assemble
