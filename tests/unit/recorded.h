// What a capture holds, copied out so that a test can look at it at leisure.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "xsigma/profiler/capture.h"

namespace xsigma::profiler::recorded {

// What `body` records.
template <typename Body>
Capture record(Body body, CaptureOptions options = {}) {
  Recording recording = startRecording(std::move(options)).value();
  body();
  return recording.stop();
}

// A record whose texts outlive the visit.
struct Seen : CaptureRecord {
  explicit Seen(const CaptureRecord& record)
      : CaptureRecord(record),
        name(record.name),
        file(record.file),
        text(record.text),
        given_name(record.given.name),
        given_json(record.given.metadata_json) {
    CaptureRecord::name = CaptureRecord::file = CaptureRecord::text = given.name = given.metadata_json = {};
  }

  std::string name;
  std::string file;
  std::string text;
  std::string given_name;
  std::string given_json;
};

// A begin with its end on the same thread.
struct Scope {
  std::string name;
  RecordScope scope = RecordScope::FUNCTION;
  std::string file;
  uint32_t line = 0;
  uint32_t thread = 0;
  uint64_t id = 0;  // of the op_info before it, if there is one
  uint64_t begin = 0;
  uint64_t end = 0;  // 0: unfinished
  size_t depth = 0;
};

inline std::vector<Seen> all(const Capture& capture) {
  EXPECT_TRUE(capture.damages().empty());
  std::vector<Seen> records;
  capture.forEachRecord([&](const CaptureRecord& record) { records.emplace_back(record); });
  return records;
}

inline std::vector<Seen> all(const Capture& capture, RecordKind kind) {
  std::vector<Seen> records = all(capture);
  records.erase(std::remove_if(records.begin(), records.end(), [=](const Seen& each) { return each.kind != kind; }), records.end());
  return records;
}

// In the order in which they began, thread by thread.
inline std::vector<Scope> scopes(const Capture& capture) {
  std::vector<Scope> found;
  std::vector<size_t> open;
  uint64_t named_id = 0;
  for (const Seen& each : all(capture)) {
    if (each.kind == RecordKind::op_info) named_id = each.id;
    if (each.kind == RecordKind::scope_begin) {
      if (!open.empty() && found[open.back()].thread != each.thread) open.clear();
      found.push_back(
          {each.name, each.scope, each.file, each.line, each.thread, named_id != 0 ? named_id : each.id, each.ticks, 0, open.size()});
      open.push_back(found.size() - 1);
      named_id = 0;
    }
    if (each.kind != RecordKind::scope_end) continue;
    const auto match = std::find_if(open.rbegin(), open.rend(), [&](size_t index) {
      return found[index].thread == each.thread && found[index].begin == each.begin_ticks && found[index].name == each.name;
    });
    if (match == open.rend()) {
      ADD_FAILURE() << "'" << each.name << "' ended and never began";
      continue;
    }
    found[*match].end = each.ticks;
    open.erase(std::next(match).base());
  }
  return found;
}

inline std::vector<std::string> names(const Capture& capture) {
  std::vector<std::string> found;
  for (const Scope& each : scopes(capture)) found.push_back(each.name);
  return found;
}

inline Scope scope(const Capture& capture, std::string_view name) {
  const std::vector<Scope> found = scopes(capture);
  const auto match = std::find_if(found.begin(), found.end(), [&](const Scope& each) { return each.name == name; });
  if (match != found.end()) return *match;
  ADD_FAILURE() << "no scope is called '" << name << "'";
  return {};
}

}  // namespace xsigma::profiler::recorded
