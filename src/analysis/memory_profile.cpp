#include "xsigma/profiler/memory_profile.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/memory_events.h"
#include "analysis/memory_replay.h"
#include "analysis/memory_scopes.h"
#include "capture/source.h"

namespace xsigma::profiler {
namespace {

using analysis::MemoryEvents;
using analysis::MemoryRecord;
using analysis::MemoryReplay;
using analysis::ScopePaths;

// What is alive on a device while its events are read for the first time.
class DeviceReading {
 public:
  explicit DeviceReading(Device device) { device_.device = device; }

  void shortage(MemoryEvent event, int64_t bytes) {
    event.action = MemoryAction::out_of_memory;
    event.bytes = bytes < 0 ? 0 : static_cast<uint64_t>(bytes);
    add(event);
  }
  // `maker_end_ns`: when the scope ends that allocates; INT64_MIN: it makes no difference.
  void allocation(MemoryEvent event, int64_t maker_end_ns) {
    const auto taken = live_.find(event.address);
    if (taken != live_.end()) {
      MemoryEvent release = event;
      release.action = MemoryAction::free;
      end(taken->second, release);
      ++device_.replaced;
    }
    live_[event.address] = {static_cast<uint32_t>(device_.events.size()), maker_end_ns};
    alive_ += event.bytes;
    ++device_.allocations;
    add(event);
  }
  void release(MemoryEvent event) {
    const auto found = live_.find(event.address);
    if (found == live_.end()) {
      event.action = MemoryAction::unknown_free;
      ++device_.unknown_releases;
      device_.unknown_released_bytes += event.bytes;
      return add(event);
    }
    event.action = MemoryAction::free;
    end(found->second, event);
    live_.erase(found);
    ++device_.releases;
  }

  MemoryDevice finish(size_t scopes) {
    for (const auto& [address, block] : live_) {
      device_.leaks.push_back(block.event);
      device_.leaked_bytes += device_.events[block.event].bytes;
    }
    std::sort(device_.leaks.begin(), device_.leaks.end(), [this](uint32_t a, uint32_t b) {
      const uint64_t bytes_a = device_.events[a].bytes;
      const uint64_t bytes_b = device_.events[b].bytes;
      return bytes_a != bytes_b ? bytes_a > bytes_b : a < b;
    });
    lookAgain(scopes);
    return std::move(device_);
  }

 private:
  struct Block {
    uint32_t event = 0;
    int64_t maker_end_ns = INT64_MIN;
  };

  void add(MemoryEvent& event) {
    event.allocated = alive_;
    if (alive_ > device_.peak.bytes) {
      device_.peak.bytes = alive_;
      device_.peak.event = static_cast<uint32_t>(device_.events.size());
    }
    device_.events.push_back(event);
  }

  // The size is that of the allocation, whatever the release says: so totals cannot drift.
  void end(const Block& block, MemoryEvent& release) {
    MemoryEvent& allocation = device_.events[block.event];
    if (release.time_ns <= block.maker_end_ns) allocation.category = MemoryCategory::temporary;
    allocation.partner = static_cast<uint32_t>(device_.events.size());
    release.partner = block.event;
    release.bytes = allocation.bytes;
    release.category = allocation.category;
    alive_ -= release.bytes;
    add(release);
  }

  // Peak, failures and leaks with their holders, now that every category is known.
  void lookAgain(size_t scopes) {
    const uint32_t peak = device_.peak.event;
    MemoryReplay replay(device_, scopes);
    for (uint32_t i = 0; i < device_.events.size(); ++i) {
      replay.step();
      if (i == peak) device_.peak = replay.moment();
      if (device_.events[i].action != MemoryAction::out_of_memory) continue;
      MemoryShortage shortage;
      shortage.time_ns = device_.events[i].time_ns;
      shortage.bytes = device_.events[i].allocated;
      shortage.event = i;
      if (device_.shortages.size() < kMostShortages) static_cast<MemoryMoment&>(shortage) = replay.moment();
      shortage.requested = device_.events[i].bytes;
      device_.shortages.push_back(std::move(shortage));
    }
    device_.leaks_by_scope = replay.holders();
  }

  MemoryDevice device_;
  std::unordered_map<uint64_t, Block> live_;
  uint64_t alive_ = 0;
};

class Reading {
 public:
  explicit Reading(const MemoryEvents& events) : events_(events), paths_(events) {}

  void take(const MemoryRecord& record) {
    if (!record.shortage && record.bytes == 0) return;  // nothing changes hands
    const ScopePaths::Place place = paths_.within(record.slice);
    MemoryEvent event;
    event.time_ns = record.time_ns;
    event.address = record.address;
    event.bytes = record.bytes < 0 ? 0 - static_cast<uint64_t>(record.bytes) : static_cast<uint64_t>(record.bytes);
    event.total_allocated = record.total_allocated;
    event.total_reserved = record.total_reserved;
    event.scope = place.scope;
    event.thread = record.row;
    DeviceReading& device = deviceOf(record.device);
    if (record.shortage) return device.shortage(event, record.bytes);
    if (record.bytes < 0) return device.release(event);
    const bool guarded = place.category != ScopePaths::kNoCategory;
    if (guarded) event.category = static_cast<MemoryCategory>(place.category);
    const bool may_be_temporary = !guarded && place.innermost != analysis::kNoSlice;
    device.allocation(event, may_be_temporary ? events_.slices()[place.innermost].end_ns : INT64_MIN);
  }

  void finish(MemoryProfile& profile) {
    profile.scopes = paths_.take();
    for (auto& [key, device] : devices_) profile.devices.push_back(device.finish(profile.scopes.size()));
  }

 private:
  DeviceReading& deviceOf(Device device) {
    if (last_ != nullptr && device == last_device_) return *last_;
    last_device_ = device;
    return *(last_ = &devices_.try_emplace({device.type, device.index}, device).first->second);
  }

  const MemoryEvents& events_;
  ScopePaths paths_;
  std::map<std::tuple<DeviceType, int>, DeviceReading> devices_;
  DeviceReading* last_ = nullptr;
  Device last_device_{};
};

// Segments of a thread are numbered from 0 on: what is missing was overwritten.
bool ringWentRound(const Capture& capture) {
  if (capture.info().policy != CapturePolicy::ring) return false;
  uint32_t thread = UINT32_MAX;
  uint32_t expected = 0;
  for (const capture::Segment& segment : capture.source()->contents().segments) {
    if (segment.thread != thread) expected = 0;
    if (segment.number != expected) return true;
    thread = segment.thread;
    expected = segment.number + 1;
  }
  return false;
}

}  // namespace

MemoryProfile analyzeMemory(const Capture& capture) {
  MemoryProfile profile;
  profile.scopes.push_back({});
  if (capture.source() == nullptr) return profile;
  const MemoryEvents events(assembleTrace(capture));
  const TraceInfo& info = events.trace().info();
  profile.start_ns = info.start_ns;
  profile.end_ns = std::max(info.start_ns, events.totals().end_ns);
  profile.process_id = info.process_id;
  for (const TraceRow& row : events.totals().rows) profile.threads.push_back({row.thread_id, row.logical_id, row.name});
  Reading reading(events);
  events.forEach([&](const MemoryRecord& record) { reading.take(record); });
  reading.finish(profile);
  const Ledger& ledger = events.trace().ledger();
  profile.lost_reports = ledger.extras_dropped;
  profile.lost_scopes = ledger.dropped;
  profile.overwritten = ringWentRound(capture);
  profile.damaged = !capture.damages().empty();
  return profile;
}

}  // namespace xsigma::profiler
