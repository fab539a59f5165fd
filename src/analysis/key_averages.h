// AverageCount: goes through tables of events and adds up what KeyAverages shows.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "analysis/average_groups.h"
#include "analysis/device_time.h"
#include "analysis/durations.h"
#include "assemble/event_table.h"
#include "base/saturating.h"
#include "xsigma/profiler/key_averages.h"

namespace xsigma::profiler {

struct KeyAverages::Contents {
  GroupBy group_by;
  std::vector<KeyAverage> rows;
  int64_t self_cpu_ns = 0;
  int64_t device_busy_ns = 0;
  int64_t wall_ns = 0;
  std::set<std::pair<int64_t, int64_t>> threads;  // process, thread
  uint64_t unfinished = 0;
  uint64_t lost = 0;
  uint64_t lost_of_devices = 0;
  bool complete = true;                 // false: a deadline cut the events short
  bool has_memory = false;              // some allocation was reported
  DeviceType device = DeviceType::CPU;  // whose columns there are; CPU = none
};

namespace analysis {

class AverageCount {
 public:
  explicit AverageCount(const GroupBy& by) : groups_(by) { contents_->group_by = by; }

  // One pass. Events of one thread nest; a frame is kept of each that is open.
  void add(const assemble::EventTable& table);
  void addLost(const Ledger& ledger) {
    contents_->lost += ledger.dropped;
    contents_->lost_of_devices += ledger.device.dropped;
  }
  // Once, at the end.
  std::shared_ptr<const KeyAverages::Contents> finish();

 private:
  using Entry = assemble::EventTable::Entry;

  struct Bytes {
    int64_t cpu = 0;
    int64_t device = 0;
    void operator+=(const Bytes& other) {
      base::addTo(cpu, other.cpu);
      base::addTo(device, other.device);
    }
  };
  // What has been added up for a row so far.
  struct Tally {
    uint64_t calls = 0;
    uint64_t unfinished = 0;
    int64_t self_ns = 0;
    int64_t total_ns = 0;
    Durations durations;
    Bytes self_bytes;
    Bytes total_bytes;
    uint64_t flops = 0;
    bool is_top_level = false;
  };
  struct Frame {
    uint32_t entry;
    uint32_t group;
    int64_t duration_ns;
    int64_t inside_ns;
    Bytes bytes;
  };
  // A thread of the table, from its first event to its last.
  struct Thread {
    std::vector<Frame> stack;
    std::vector<uint32_t> open;             // by group: how often it is on the stack
    std::vector<int64_t> covered_until_ns;  // by group: by the asynchronous calls seen so far
  };

  struct Span {
    int64_t start_ns;
    int64_t end_ns;
  };

  void count(uint32_t index, const Entry& entry);
  Span spanOf(const Entry& entry) const;
  void enter(Thread& thread, uint32_t index);
  void leave(Thread& thread);
  void allocate(Thread& thread, const Entry& entry);
  void unwindTo(Thread& thread, const Entry& entry);
  void countAsync(Thread& thread, const Entry& entry);
  void countDevices();
  Tally& called(const Entry& entry, uint32_t group, int64_t duration_ns);
  void addFlops(const Entry& entry, Tally& tally);
  Thread& threadOf(uint32_t row) { return threads_[row] != nullptr ? *threads_[row] : openThread(row); }
  Thread& openThread(uint32_t row);
  void release(uint32_t row);
  Tally& tallyOf(uint32_t group);
  static void fill(KeyAverage& row, Tally& tally);

  std::shared_ptr<KeyAverages::Contents> contents_ = std::make_shared<KeyAverages::Contents>();
  AverageGroups groups_;
  DeviceTime device_time_;
  std::vector<Tally> tallies_;
  // Of the table that is being counted.
  const assemble::EventTable* table_ = nullptr;
  bool with_flops_ = false;
  int64_t start_ns_ = 0;
  int64_t end_ns_ = 0;
  std::vector<std::unique_ptr<Thread>> threads_;  // by row
  std::vector<std::unique_ptr<Thread>> unused_;   // empty again
  std::vector<uint32_t> device_entries_;
};

}  // namespace analysis
}  // namespace xsigma::profiler
