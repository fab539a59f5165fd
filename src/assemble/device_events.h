// DeviceEvents: what backends recorded, decoded and on the trace's clock; and who asked for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assemble/given_rows.h"
#include "assemble/leftovers.h"
#include "base/deadline.h"
#include "capture/source.h"
#include "xsigma/profiler/backend.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::assemble {

inline constexpr uint32_t kNoEvent = UINT32_MAX;

// The segments of one thread, and where its events go.
struct ThreadPart {
  const capture::Segment* first = nullptr;
  const capture::Segment* last = nullptr;
  uint32_t row = 0;
  uint64_t first_ordinal = 0;
  int64_t first_ns = 0;  // when its first segment was opened, nearly: its time base
};

struct DeviceEvent {
  DeviceActivity activity;  // times are nanoseconds of CLOCK_REALTIME here; without values
  uint64_t values = 0;      // where they begin among all values
  uint32_t values_size = 0;
  uint32_t call = kNoEvent;     // who asked for it: DeviceEvents::all
  AskingScope asker;            // the scope around the call
  AskingScope captured;         // work of a graph: the scope in which its node was made
  Placed place;
  bool placed = false;          // among its thread's scopes

  int64_t startNs() const { return static_cast<int64_t>(activity.start); }
  int64_t endNs() const { return static_cast<int64_t>(activity.end); }
};

class DeviceEvents {
 public:
  // Once the deadline has passed there are no events any more: half of them would find neither their calls nor their rows.
  DeviceEvents(const Capture::Source& source, int64_t realtime_offset_ns, const base::Deadline& deadline);

  bool late() const { return late_; }
  const base::Deadline& deadline() const { return deadline_; }
  // Looks at the deadline, between steps.
  bool inTime() {
    if (!late_ && deadline_.passed()) giveUp();
    return !late_;
  }
  void giveUp();
  uint64_t captureBytes() const { return capture_bytes_; }
  // Calls and graph nodes of a thread, in the order of their starts. Rows are those of the capture's threads.
  void assignGuests(const std::vector<TraceRow>& rows, const std::vector<ThreadPart>& parts);
  const std::vector<uint32_t>& guestsOf(uint32_t row) const { return row < guests_.size() ? guests_[row] : kNone; }
  // Once the threads have been read: work gets its call, and the scopes behind it.
  void link(bool to_scopes);
  std::string_view valuesOf(const DeviceEvent& event) const { return std::string_view(values_).substr(event.values, event.values_size); }

  std::vector<DeviceEvent> all;

 private:
  bool decode(const Capture::Source& source, int64_t realtime_offset_ns);
  bool linkCalls(bool to_scopes);
  void linkNodes();

  static const std::vector<uint32_t> kNone;
  const base::Deadline& deadline_;
  uint64_t capture_bytes_;
  bool late_ = false;
  std::string values_;
  std::vector<std::vector<uint32_t>> guests_;
};

}  // namespace xsigma::profiler::assemble
