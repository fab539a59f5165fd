// DeviceSettle: turns linked device events into events of the trace: rows, annotations, arrows, arguments.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "assemble/device_events.h"
#include "assemble/leftovers.h"
#include "capture/source.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::assemble {

class DeviceSettle {
 public:
  // The events are linked. Gives the totals their devices and rows.
  DeviceSettle(DeviceEvents& events, const capture::Tables& tables, const std::vector<Leftovers>& leftovers, int64_t process_id, TraceTotals& totals);

  // What is still to be placed; of those that tie the outer one first.
  void addPlaces(std::vector<Placed*>& places);
  // After placing. `done` is called after each event that was appended.
  void emit(EventBatch& batch, TraceTotals& totals, uint64_t& next_ordinal, const std::function<void()>& done);

 private:
  // The work of one of the user's scopes on one queue.
  struct Annotation {
    Placed place;
    uint32_t name = 0;
    uint64_t id = 0;
  };

  void findPlaces(int64_t process_id);
  void annotate(const std::vector<Leftovers>& leftovers);
  void pad();
  void addRows(TraceTotals& totals) const;
  void emitAnnotation(const Annotation& annotation, EventBatch& batch, uint64_t ordinal) const;
  void emitEvent(const DeviceEvent& event, EventBatch& batch, TraceTotals& totals, uint64_t ordinal);
  std::string argsOf(const DeviceEvent& event, bool before_launch);
  bool sound(uint32_t form);

  DeviceEvents& events_;
  const capture::Tables& tables_;
  std::deque<Annotation> annotations_;  // outer ones first
  std::unordered_map<uint32_t, bool> sound_forms_;
};

}  // namespace xsigma::profiler::assemble
