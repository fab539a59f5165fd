// DeviceTime: what devices did, for whom, with moments of overlap counted once.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/average_groups.h"
#include "assemble/event_table.h"

namespace xsigma::profiler::analysis {

class DeviceTime {
 public:
  using Entry = assemble::EventTable::Entry;

  // Work of a device: its own row gets it, the scope that asked for it, and the scopes around that one.
  void add(const assemble::EventTable& table, const std::vector<uint32_t>& device_entries, AverageGroups& groups);
  // Into the rows; and the time in which any device was busy.
  int64_t settle(std::vector<KeyAverage>& rows);

 private:
  struct Span {
    int64_t start_ns;
    int64_t end_ns;
  };
  struct Spans {
    std::vector<Span> self;
    std::vector<Span> total;
    uint64_t last_added = UINT64_MAX;  // the event that was added last: the scopes around it may be of one row
  };

  static int64_t unionOf(std::vector<Span>& spans);
  Spans& of(uint32_t group);

  std::vector<Spans> spans_;
  std::vector<Span> all_;
  uint64_t added_ = 0;
};

}  // namespace xsigma::profiler::analysis
