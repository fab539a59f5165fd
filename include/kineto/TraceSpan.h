// libkineto::TraceSpan: the stretch of time that a trace covers.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

namespace libkineto {

struct TraceSpan {
  TraceSpan() = delete;
  TraceSpan(int64_t start_time, int64_t end_time, std::string span_name) : startTime(start_time), endTime(end_time), name(std::move(span_name)) {}
  TraceSpan(int op_count, int it, std::string span_name, std::string span_prefix)
      : opCount(op_count), iteration(it), name(std::move(span_name)), prefix(std::move(span_prefix)) {}

  int64_t startTime{0};  // ns of the wall clock
  int64_t endTime{0};    // 0 while it is open
  int opCount{0};
  int iteration{-1};
  std::string name;
  std::string prefix;
  bool tracked{false};
};

}  // namespace libkineto
