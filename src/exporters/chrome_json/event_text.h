// EventText: a batch of events as lines of Chrome JSON. One per thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/text_buffer.h"
#include "trace/event_args.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::exporters::chrome {

// Times are told in microseconds since a moment that all processes of a job agree on: a quarter of a year, as Kineto does it. So they stay exact.
inline constexpr int64_t kQuarterNs = int64_t{7'889'238} * 1'000'000'000;
constexpr int64_t baseTime(int64_t start_ns) { return start_ns >= 0 ? start_ns / kQuarterNs * kQuarterNs : 0; }

// "123.456": below zero is zero, and nothing goes beyond what a double holds exactly.
void appendMicroseconds(base::TextBuffer& out, int64_t ns);

class EventText {
 public:
  EventText(const Trace& trace, int64_t base_ns) : trace_(trace), base_ns_(base_ns), verbose_(trace.info().verbose), args_(trace) {}

  // Each line begins with ",\n".
  void append(base::TextBuffer& out, const EventBatch& batch);

 private:
  void appendSlice(base::TextBuffer& out, const EventBatch& batch, const TraceEvent& event);
  void appendAsync(base::TextBuffer& out, const EventBatch& batch, const TraceEvent& event);
  void appendPoint(base::TextBuffer& out, const EventBatch& batch, const TraceEvent& event);
  void appendCounter(base::TextBuffer& out, const EventBatch& batch, const TraceEvent& event);
  void appendAllArgs(base::TextBuffer& out, const EventBatch& batch, const TraceEvent& event);
  void appendPlace(base::TextBuffer& out, const EventBatch& batch, const TraceEvent& event, int64_t ns);
  const std::string& slicePrefix(uint32_t name, libkineto::ActivityType type);

  const Trace& trace_;
  int64_t base_ns_;
  bool verbose_;
  std::vector<std::string> prefixes_;  // by name, for scopes: everything before the process
  std::string given_prefix_;
  std::vector<std::string> places_;  // by row: from the process to before the time
  trace::ArgsText args_;
};

}  // namespace xsigma::profiler::exporters::chrome
