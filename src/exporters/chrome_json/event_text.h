// EventText: a batch of events as lines of Chrome JSON. One per thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::exporters::chrome {

// Times are told in microseconds since a moment that all processes of a job agree on: a quarter of a year, as Kineto does it. So they stay exact.
inline constexpr int64_t kQuarterNs = int64_t{7'889'238} * 1'000'000'000;
constexpr int64_t baseTime(int64_t start_ns) { return start_ns >= 0 ? start_ns / kQuarterNs * kQuarterNs : 0; }

// "123.456": below zero is zero, and nothing goes beyond what a double holds exactly.
void appendMicroseconds(std::string& out, int64_t ns);

class EventText {
 public:
  EventText(const Trace& trace, int64_t base_ns) : trace_(trace), base_ns_(base_ns) {}

  // Each line begins with ",\n".
  void append(std::string& out, const EventBatch& batch);

 private:
  void appendEvent(std::string& out, const EventBatch& batch, const TraceEvent& event);
  void appendSlice(std::string& out, const EventBatch& batch, const TraceEvent& event);
  void appendAsync(std::string& out, const EventBatch& batch, const TraceEvent& event);
  void appendPoint(std::string& out, const EventBatch& batch, const TraceEvent& event);
  void appendCounter(std::string& out, const EventBatch& batch, const TraceEvent& event);
  void appendAllArgs(std::string& out, const EventBatch& batch, const TraceEvent& event);
  void appendPlace(std::string& out, const TraceRow& row, int64_t ns);
  const std::string& slicePrefix(uint32_t name, libkineto::ActivityType type);

  const Trace& trace_;
  int64_t base_ns_;
  std::vector<std::string> prefixes_;  // by name, for scopes: everything before the process
  std::string given_prefix_;
};

}  // namespace xsigma::profiler::exporters::chrome
