// KinetoEvent::Table: what the events of one result look into.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "assemble/event_table.h"
#include "xsigma/profiler/profiler_kineto.h"

namespace xsigma::profiler {

struct KinetoEvent::Table {
  std::shared_ptr<assemble::EventTable> events;
  ProfilerConfig config{ProfilerState::KINETO};
  // What a post-process callback made of an event's stack and modules.
  struct Rewritten {
    std::vector<std::string> stack;
    std::vector<std::string> modules;
  };
  std::unordered_map<size_t, Rewritten> rewritten;
  std::unordered_map<uint64_t, int64_t> timed_ns;  // by the id of a scope that was timed by events of the device

  const assemble::EventTable::Entry& entry(size_t index) const { return events->entries[index]; }
  std::string name(const assemble::EventTable::Entry& entry) const;
  EventType tag(const assemble::EventTable::Entry& entry) const;
  DeviceType deviceType(const assemble::EventTable::Entry& entry) const;
};

std::vector<std::shared_ptr<Result>> buildTree(const KinetoEvent::Table& table);

}  // namespace xsigma::profiler
