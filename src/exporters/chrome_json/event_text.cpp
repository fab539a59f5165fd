#include "exporters/chrome_json/event_text.h"

#include <algorithm>
#include <cmath>

#include "base/json_text.h"

namespace xsigma::profiler::exporters::chrome {

using base::appendInteger;
using base::appendQuoted;
using base::readableId;
using libkineto::ActivityType;
using trace::appendMemoryArgs;

namespace {

// Times that readers take: none below zero, and none that a double does not hold.
int64_t readableNs(int64_t ns) { return std::clamp<int64_t>(ns, 0, (int64_t{1} << 53) - 1); }

}  // namespace

void appendMicroseconds(base::TextBuffer& out, int64_t ns) {
  constexpr size_t kMostCharacters = 24;
  const auto clamped = static_cast<uint64_t>(readableNs(ns));
  const auto rest = static_cast<uint32_t>(clamped % 1000);
  char* const at = out.room(kMostCharacters);
  char* const end = std::to_chars(at, at + kMostCharacters, clamped / 1000).ptr;
  end[0] = '.';
  end[1] = static_cast<char>('0' + rest / 100);
  end[2] = static_cast<char>('0' + rest / 10 % 10);
  end[3] = static_cast<char>('0' + rest % 10);
  out.advance(static_cast<size_t>(end + 4 - at));
}

namespace {

void appendIds(base::TextBuffer& out, const TraceEvent& event) {
  out += "\"External id\": ";
  const size_t from = out.size();
  appendInteger(out, event.id);
  const size_t digits = out.size() - from;
  out += ", \"Record function id\": ";
  out.repeat(from, digits);  // the same number
  out += ", \"Ev Idx\": ";
  appendInteger(out, event.ordinal);
}

}  // namespace

void EventText::append(base::TextBuffer& out, const EventBatch& batch) {
  for (const TraceEvent& event : batch.events) {
    switch (event.kind) {
      case TraceEventKind::slice: appendSlice(out, batch, event); break;
      case TraceEventKind::async_slice: appendAsync(out, batch, event); break;
      case TraceEventKind::counter: appendCounter(out, batch, event); break;
      default: appendPoint(out, batch, event);
    }
  }
}

const std::string& EventText::slicePrefix(uint32_t name, ActivityType type) {
  const auto make = [&](std::string& prefix) {
    prefix = ",\n{\"ph\": \"X\", \"cat\": \"";
    prefix += libkineto::toString(type);
    prefix += "\", \"name\": ";
    const std::string_view text = trace_.name(name).text;
    appendQuoted(prefix, text == "kernel" ? "Kernel" : text);
    prefix += ", \"pid\": ";
  };
  constexpr uint32_t kMostKept = 1 << 16;
  const bool scope = type == ActivityType::CPU_OP || type == ActivityType::USER_ANNOTATION;
  const uint32_t slot = name * 2 + (type == ActivityType::CPU_OP ? 0 : 1);
  if (!scope || name >= kMostKept) return make(given_prefix_), given_prefix_;
  if (slot >= prefixes_.size()) prefixes_.resize(std::max<size_t>(slot + 1, prefixes_.size() * 2));
  if (prefixes_[slot].empty()) make(prefixes_[slot]);
  return prefixes_[slot];
}

void EventText::appendPlace(base::TextBuffer& out, const EventBatch& batch, const TraceEvent& event, int64_t ns) {
  if (event.row >= places_.size()) places_.resize(batch.rows->size());
  std::string& place = places_[event.row];
  if (place.empty()) {
    const TraceRow& row = batch.row(event);
    place = std::to_string(readableId(row.process_id)) + ", \"tid\": " + std::to_string(readableId(row.thread_id)) + ", \"ts\": ";
  }
  out += std::string_view(place);
  appendMicroseconds(out, ns - base_ns_);
}

void EventText::appendAllArgs(base::TextBuffer& out, const EventBatch& batch, const TraceEvent& event) {
  const EventDetails* const details = batch.details(event);
  const size_t before = out.size();
  out += ", \"args\": {";
  const size_t opened = out.size();
  const auto separate = [&] {
    if (out.size() != opened) out += ", ";
  };
  const bool given = (event.flags & kEventGiven) != 0;
  // What a client says itself in its metadata is not said again.
  const auto add = [&](std::string_view key, uint64_t value) {
    if (details != nullptr && details->metadata_json.find(key) != std::string_view::npos) return;
    separate();
    out += key;
    out += ": ";
    base::appendUnsigned(out, value);
  };
  const bool cpu = event.type == ActivityType::CPU_OP || event.type == ActivityType::USER_ANNOTATION;
  if (!given && cpu && event.id != 0 && event.id <= INT64_MAX && event.ordinal != UINT64_MAX) {
    appendIds(out, event);
  } else {
    const uint64_t linked = given && details != nullptr ? details->linked_id : 0;
    const uint64_t external = linked != 0 || (event.flags & kEventOfBackend) != 0 ? linked : event.id;
    if (external != 0 || (cpu && event.kind == TraceEventKind::slice)) add("\"External id\"", external);
    if (cpu && event.ordinal != UINT64_MAX) {
      add("\"Record function id\"", given ? 0 : event.id);
      add("\"Ev Idx\"", event.ordinal);
    }
  }
  if (details != nullptr) {
    const size_t from = out.size();
    args_.append(out, *details);
    if (from == opened) out.erase(from, 2);  // the first member has no comma before it
    if (details->end_row != 0) {
      separate();
      out += "\"End thread\": ";
      appendInteger(out, readableId((*batch.rows)[details->end_row - 1].thread_id));
    }
  }
  if (verbose_) {
    const TraceName place = trace_.name(event.name);
    if (!place.file.empty()) {
      separate();
      out += "\"CallFrom\": ";
      appendQuoted(out, std::string(place.file) + ":" + std::to_string(place.line));
    }
  }
  if ((event.flags & kEventUnfinished) != 0) {
    separate();
    out += "\"finished\": false";
  }
  if ((event.flags & kEventUnmatched) != 0) {
    separate();
    out += "\"begin recorded\": false";
  }
  if (out.size() == opened) {
    out.resize(before);
  } else {
    out += '}';
  }
}

void EventText::appendSlice(base::TextBuffer& out, const EventBatch& batch, const TraceEvent& event) {
  out += std::string_view(slicePrefix(event.name, event.type));
  int64_t start_ns = event.start_ns;
  int64_t duration_ns = event.duration_ns;
  if (event.type == ActivityType::GPU_USER_ANNOTATION && (event.flags & kEventOfBackend) == 0) {  // so that viewers nest its kernels
    start_ns -= 1;
    duration_ns += 2;
  }
  appendPlace(out, batch, event, start_ns);
  out += ", \"dur\": ";
  const int64_t from_ns = start_ns - base_ns_;
  appendMicroseconds(out, readableNs(from_ns + duration_ns) - readableNs(from_ns));  // what ends together ends together, however far out
  if (event.details == kNoDetails && event.flags == 0 && event.id <= INT64_MAX && !verbose_) {
    out += ", \"args\": {";
    appendIds(out, event);
    out += "}}";
    return;
  }
  appendAllArgs(out, batch, event);
  out += '}';
}

void EventText::appendAsync(base::TextBuffer& out, const EventBatch& batch, const TraceEvent& event) {
  std::string common = "\", \"cat\": \"";
  common += libkineto::toString(event.type);
  common += "\", \"name\": ";
  appendQuoted(common, trace_.name(event.name).text);
  common += ", \"id\": \"";
  for (const uint64_t part : {uint64_t{event.row}, uint64_t{event.name}, event.id, static_cast<uint64_t>(event.start_ns - base_ns_)}) {
    appendInteger(common, part);
    common += '.';
  }
  common += "\", \"pid\": ";
  out += ",\n{\"ph\": \"b";
  out += std::string_view(common);
  appendPlace(out, batch, event, event.start_ns);
  appendAllArgs(out, batch, event);
  out += "},\n{\"ph\": \"e";
  out += std::string_view(common);
  appendPlace(out, batch, event, event.start_ns + event.duration_ns);
  out += '}';
}

void EventText::appendPoint(base::TextBuffer& out, const EventBatch& batch, const TraceEvent& event) {
  out += ",\n{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": ";
  const EventDetails* const details = batch.details(event);
  const bool memory = details != nullptr && (event.kind == TraceEventKind::memory || event.kind == TraceEventKind::out_of_memory);
  if (memory) {
    out += std::string_view(event.kind == TraceEventKind::memory ? "\"[memory]\"" : "\"[OutOfMemory]\"");
  } else {
    appendQuoted(out, trace_.name(event.name).text);
  }
  out += ", \"pid\": ";
  appendPlace(out, batch, event, event.start_ns);
  if (memory) {
    out += ", \"args\": {";
    appendMemoryArgs(out, event, *details);
    out += '}';
  } else if (details != nullptr) {
    if (const std::string members = args_.text(*details); !members.empty()) {
      out += ", \"args\": {";
      out += std::string_view(members);
      out += '}';
    }
  }
  out += '}';
}

void EventText::appendCounter(base::TextBuffer& out, const EventBatch& batch, const TraceEvent& event) {
  const EventDetails* const details = batch.details(event);
  const double value = details != nullptr ? details->value : 0;
  // Readers take numbers only for a counter: what is none is shown as an instant.
  const bool number = std::isfinite(value);
  out += std::string_view(number ? ",\n{\"ph\": \"C\", \"name\": " : ",\n{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": ");
  appendQuoted(out, trace_.name(event.name).text);
  out += ", \"pid\": ";
  appendPlace(out, batch, event, event.start_ns);
  out += ", \"args\": {\"value\": ";
  base::appendReal(out, value);
  out += "}}";
}

}  // namespace xsigma::profiler::exporters::chrome
