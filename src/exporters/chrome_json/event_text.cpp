#include "exporters/chrome_json/event_text.h"

#include <algorithm>
#include <cmath>

#include "base/json_text.h"
#include "trace/event_args.h"

namespace xsigma::profiler::exporters::chrome {

using base::appendInteger;
using base::appendQuoted;
using base::readableId;
using libkineto::ActivityType;
using trace::appendArgs;
using trace::appendMemoryArgs;

void appendMicroseconds(std::string& out, int64_t ns) {
  constexpr int64_t kMost = (int64_t{1} << 53) - 1;
  const auto clamped = static_cast<uint64_t>(std::clamp<int64_t>(ns, 0, kMost));
  const auto rest = static_cast<uint32_t>(clamped % 1000);
  char digits[24];
  char* const end = std::to_chars(digits, digits + sizeof digits, clamped / 1000).ptr;
  end[0] = '.';
  end[1] = static_cast<char>('0' + rest / 100);
  end[2] = static_cast<char>('0' + rest / 10 % 10);
  end[3] = static_cast<char>('0' + rest % 10);
  out.append(digits, static_cast<size_t>(end + 4 - digits));
}

namespace {

bool isSlice(const TraceEvent& event) { return event.kind == TraceEventKind::slice || event.kind == TraceEventKind::async_slice; }
bool tie(const TraceEvent& a, const TraceEvent& b) {
  return a.start_ns == b.start_ns && a.duration_ns == b.duration_ns && a.row == b.row && a.kind == b.kind && a.kind == TraceEventKind::slice;
}
// Without length, at the end of the other.
bool isAtEnd(const TraceEvent& a, const TraceEvent& b) {
  return b.duration_ns == 0 && b.start_ns == a.start_ns + a.duration_ns && a.duration_ns != 0 && a.row == b.row && b.kind == TraceEventKind::slice;
}

}  // namespace

// Events come in the order of their ends. Where two slices share both times, readers take the first in the file for the outer one.
void EventText::append(std::string& out, const EventBatch& batch) {
  const std::vector<TraceEvent>& events = batch.events;
  for (size_t at = 0; at < events.size(); ++at) {
    size_t last = at;
    for (size_t next = at + 1; next < events.size() && isSlice(events[at]); ++next) {
      if (!isSlice(events[next]) || isAtEnd(events[at], events[next])) continue;  // what may lie between two that tie
      if (!tie(events[at], events[next])) break;
      last = next;
    }
    if (last == at) [[likely]] {
      appendEvent(out, batch, events[at]);
      continue;
    }
    std::vector<const TraceEvent*> tied;
    for (size_t i = at; i <= last; ++i) tied.push_back(&events[i]);
    std::stable_sort(tied.begin(), tied.end(), [](const TraceEvent* a, const TraceEvent* b) {
      return isSlice(*a) != isSlice(*b) ? isSlice(*a) : isSlice(*a) && a->ordinal < b->ordinal;
    });
    for (const TraceEvent* const event : tied) appendEvent(out, batch, *event);
    at = last;
  }
}

void EventText::appendEvent(std::string& out, const EventBatch& batch, const TraceEvent& event) {
  switch (event.kind) {
    case TraceEventKind::slice: return appendSlice(out, batch, event);
    case TraceEventKind::async_slice: return appendAsync(out, batch, event);
    case TraceEventKind::counter: return appendCounter(out, batch, event);
    default: return appendPoint(out, batch, event);
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

void EventText::appendPlace(std::string& out, const TraceRow& row, int64_t ns) {
  appendInteger(out, readableId(row.process_id));
  out += ", \"tid\": ";
  appendInteger(out, readableId(row.thread_id));
  out += ", \"ts\": ";
  appendMicroseconds(out, ns - base_ns_);
}

void EventText::appendAllArgs(std::string& out, const EventBatch& batch, const TraceEvent& event) {
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
  const uint64_t external = given && details != nullptr && details->linked_id != 0 ? details->linked_id : event.id;
  const bool cpu = event.type == ActivityType::CPU_OP || event.type == ActivityType::USER_ANNOTATION;
  if (external != 0 || (cpu && event.kind == TraceEventKind::slice)) add("\"External id\"", external);
  if (cpu && event.ordinal != UINT64_MAX) {
    add("\"Record function id\"", given ? 0 : event.id);
    add("\"Ev Idx\"", event.ordinal);
  }
  if (details != nullptr) {
    std::string members;
    appendArgs(members, trace_, *details);
    if (!members.empty()) {
      separate();
      out.append(members, 2);  // without its first comma
    }
    if (details->end_row != 0) {
      separate();
      out += "\"End thread\": ";
      appendInteger(out, readableId((*batch.rows)[details->end_row - 1].thread_id));
    }
  }
  if (const TraceName place = trace_.name(event.name); trace_.info().verbose && !place.file.empty()) {
    separate();
    out += "\"CallFrom\": ";
    appendQuoted(out, std::string(place.file) + ":" + std::to_string(place.line));
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

void EventText::appendSlice(std::string& out, const EventBatch& batch, const TraceEvent& event) {
  out += slicePrefix(event.name, event.type);
  int64_t start_ns = event.start_ns;
  int64_t duration_ns = event.duration_ns;
  if (event.type == ActivityType::GPU_USER_ANNOTATION) {  // so that viewers nest its kernels
    start_ns -= 1;
    duration_ns += 2;
  }
  appendPlace(out, batch.row(event), start_ns);
  out += ", \"dur\": ";
  appendMicroseconds(out, duration_ns);
  if (event.details == kNoDetails && event.flags == 0 && !trace_.info().verbose) {
    out += ", \"args\": {\"External id\": ";
    appendInteger(out, event.id);
    out += ", \"Record function id\": ";
    appendInteger(out, event.id);
    out += ", \"Ev Idx\": ";
    appendInteger(out, event.ordinal);
    out += "}}";
    return;
  }
  appendAllArgs(out, batch, event);
  out += '}';
}

void EventText::appendAsync(std::string& out, const EventBatch& batch, const TraceEvent& event) {
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
  out += common;
  appendPlace(out, batch.row(event), event.start_ns);
  appendAllArgs(out, batch, event);
  out += "},\n{\"ph\": \"e";
  out += common;
  appendPlace(out, batch.row(event), event.start_ns + event.duration_ns);
  out += '}';
}

void EventText::appendPoint(std::string& out, const EventBatch& batch, const TraceEvent& event) {
  out += ",\n{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": ";
  const EventDetails* const details = batch.details(event);
  const bool memory = details != nullptr && (event.kind == TraceEventKind::memory || event.kind == TraceEventKind::out_of_memory);
  if (memory) {
    out += event.kind == TraceEventKind::memory ? "\"[memory]\"" : "\"[OutOfMemory]\"";
  } else {
    appendQuoted(out, trace_.name(event.name).text);
  }
  out += ", \"pid\": ";
  appendPlace(out, batch.row(event), event.start_ns);
  if (memory) {
    out += ", \"args\": {";
    appendMemoryArgs(out, event, *details);
    out += '}';
  } else if (details != nullptr) {
    std::string members;
    appendArgs(members, trace_, *details);
    if (!members.empty()) {
      out += ", \"args\": {";
      out.append(members, 2);
      out += '}';
    }
  }
  out += '}';
}

void EventText::appendCounter(std::string& out, const EventBatch& batch, const TraceEvent& event) {
  const EventDetails* const details = batch.details(event);
  const double value = details != nullptr ? details->value : 0;
  // Readers take numbers only for a counter: what is none is shown as an instant.
  const bool number = std::isfinite(value);
  out += number ? ",\n{\"ph\": \"C\", \"name\": " : ",\n{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": ";
  appendQuoted(out, trace_.name(event.name).text);
  out += ", \"pid\": ";
  appendPlace(out, batch.row(event), event.start_ns);
  out += ", \"args\": {\"value\": ";
  base::appendReal(out, value);
  out += "}}";
}

}  // namespace xsigma::profiler::exporters::chrome
