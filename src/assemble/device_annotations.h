// DeviceAnnotations: the user's scopes, shown again around the device work that was asked for in them; one slice for each scope and queue.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "assemble/device_events.h"
#include "assemble/leftovers.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::assemble {

class DeviceAnnotations {
 public:
  struct Annotation {
    Placed place;
    uint32_t name = 0;
    uint64_t id = 0;
  };

  // The events are linked, and know where they want to be. Of scopes in scopes in scopes the innermost ones are taken, and not many more in all than
  // there is work. False: the deadline came first.
  bool make(const DeviceEvents& events, const std::vector<Leftovers>& leftovers);
  void emit(const Annotation& annotation, EventBatch& batch, uint64_t ordinal) const;

  std::deque<Annotation> all;  // outer ones first
  uint64_t cut = 0;            // work that lies in more scopes than were taken

 private:
  bool collect(const DeviceEvents& events, const std::vector<Leftovers>& leftovers);
  void pad(const DeviceEvents& events);
};

}  // namespace xsigma::profiler::assemble
