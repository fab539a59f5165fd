#include "exporters/chrome_json/frame_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "base/json_text.h"
#include "exporters/chrome_json/event_text.h"

namespace xsigma::profiler::exporters::chrome {

using base::readableId;

namespace {

constexpr std::string_view kSpanName = "PyTorch Profiler";  // readers look for this very name

std::string microseconds(int64_t ns) {
  base::TextBuffer text;
  appendMicroseconds(text, ns);
  return std::string(text.view());
}

const std::string* property(const Trace& trace, std::string_view key) {
  for (const CaptureProperty& each : trace.info().properties) {
    if (each.key == key) return &each.json;
  }
  return nullptr;
}

// A property that is no JSON any more, because its text was cut or lost, is shown as text.
std::string propertyText(std::string_view json) { return base::isJson(json) ? std::string(json) : base::quoted(json); }

std::string propertyOr(const Trace& trace, std::string_view key, char opening, std::string_view otherwise) {
  const std::string* const found = property(trace, key);
  return std::string(found != nullptr && !found->empty() && found->front() == opening && base::isJson(*found) ? *found : otherwise);
}

// Readers search the text for "rank": with a blank after it.
std::string withBlanks(std::string_view json) {
  std::string out;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '\n') continue;
    out += c;
    if (in_string && c == '\\' && i + 1 < json.size()) {
      out += json[++i];
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && c == ':' && i + 1 < json.size() && json[i + 1] != ' ') {
      out += ' ';
    }
  }
  return out;
}

std::string countsText(const ScopeCounts& counts) {
  std::string causes;
  for (size_t i = 0; i < kLossCauses; ++i) {
    if (counts.causes[i] == 0) continue;
    fmt::format_to(std::back_inserter(causes), "{}\"{}\": {}", causes.empty() ? "" : ", ", toString(static_cast<LossCause>(i)),
                   counts.causes[i]);
  }
  return fmt::format("\"attempted\": {}, \"recorded\": {}, \"unfinished\": {}, \"dropped\": {}, \"extras_dropped\": {}, \"causes\": {{{}}}",
                     counts.attempted, counts.recorded, counts.unfinished, counts.dropped, counts.extras_dropped, causes);
}

std::string deviceText(const DeviceLedger& device) {
  std::string causes;
  for (size_t i = 0; i < kDeviceLossCauses; ++i) {
    if (device.causes[i] == 0) continue;
    fmt::format_to(std::back_inserter(causes), "{}\"{}\": {}", causes.empty() ? "" : ", ", toString(static_cast<DeviceLossCause>(i)),
                   device.causes[i]);
  }
  std::string pending;
  for (const auto& [name, count] : device.pending_names) {
    fmt::format_to(std::back_inserter(pending), "{}{}: {}", pending.empty() ? "" : ", ", base::quoted(name), count);
  }
  return fmt::format(
      "\"device\": {{\"launched\": {}, \"kernels\": {}, \"pending\": {}, \"pending_kernels\": {{{}}}, \"dropped\": {}, \"causes\": {{{}}}, "
      "\"not_counted\": {}, \"copies\": {}, \"calls\": {}}}, ",
      device.launched, device.kernels, device.pending, pending, device.dropped, causes, device.not_counted, device.copies, device.calls);
}

std::string ledgerText(const Ledger& ledger) {
  std::string out = "{" + countsText(ledger);
  fmt::format_to(std::back_inserter(out), ", \"names_dropped\": {}, \"threads_dropped\": {}, \"threads\": [", ledger.names_dropped,
                 ledger.threads_dropped);
  bool first = true;
  if (ledger.device.watched) out.insert(1, deviceText(ledger.device));
  for (const ThreadLedger& thread : ledger.threads) {
    fmt::format_to(std::back_inserter(out), "{}\n  {{\"tid\": {}, \"name\": {}, {}}}", first ? "" : ",", thread.system_id,
                   base::quoted(thread.name), countsText(thread));
    first = false;
  }
  return out + "]}";
}

std::string metadataEvent(std::string_view name, int64_t ts_ns, int64_t process, int64_t thread, std::string_view key,
                          std::string_view value) {
  return fmt::format(",\n{{\"ph\": \"M\", \"name\": \"{}\", \"ts\": {}, \"pid\": {}, \"tid\": {}, \"args\": {{\"{}\": {}}}}}", name,
                     microseconds(ts_ns), readableId(process), readableId(thread), key, value);
}

std::string processRows(int64_t process, std::string_view name_json, std::string_view label, int64_t ts_ns, int64_t sort_index = -1) {
  return metadataEvent("process_name", ts_ns, process, 0, "name", name_json) +
         metadataEvent("process_labels", ts_ns, process, 0, "labels", base::quoted(label)) +
         metadataEvent("process_sort_index", ts_ns, process, 0, "sort_index",
                       fmt::to_string(readableId(sort_index >= 0 ? sort_index : process)));
}

std::string rowTexts(const Trace& trace, const TraceTotals& totals, int64_t ts_ns) {
  std::string out;
  std::set<int64_t> processes;
  std::set<std::pair<int64_t, int64_t>> threads;
  for (const TraceDevice& device : totals.devices) {
    processes.insert(device.index);
    out += processRows(device.index, base::quoted(device.name), fmt::format("GPU {}", device.index), ts_ns, device.sort_index);
  }
  for (const TraceRow& row : totals.rows) {
    if (row.hidden) continue;
    if (row.process_id != trace.info().process_id && processes.insert(row.process_id).second) {
      out += processRows(row.process_id, base::quoted(fmt::format("process {}", row.process_id)), "", ts_ns);
    }
    if (!threads.insert({row.process_id, row.thread_id}).second) continue;
    const std::string name = row.device ? row.name : fmt::format("thread {} ({})", row.thread_id, row.name);
    out += metadataEvent("thread_name", ts_ns, row.process_id, row.thread_id, "name", base::quoted(name));
    out += metadataEvent("thread_sort_index", ts_ns, row.process_id, row.thread_id, "sort_index",
                         fmt::to_string(readableId(row.sort_index >= 0 ? row.sort_index : row.thread_id)));
  }
  return out;
}

std::string linkTexts(const TraceTotals& totals, int64_t base_ns) {
  std::string out;
  std::set<std::pair<TraceLink::Kind, uint64_t>> started;
  const auto end = [&](const TraceLink& link, char ph, uint32_t row, int64_t ns) {
    const char* const name = link.kind == TraceLink::Kind::launch ? "ac2g" : "fwdbwd";
    fmt::format_to(std::back_inserter(out),
                   ",\n{{\"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"ts\": {}, \"cat\": \"{}\", \"name\": \"{}\"{}}}", ph,
                   link.id, readableId(totals.rows[row].process_id), readableId(totals.rows[row].thread_id), microseconds(ns - base_ns),
                   name, name, ph == 'f' ? ", \"bp\": \"e\"" : "");
  };
  for (const TraceLink& link : totals.links) {
    if (started.insert({link.kind, link.id}).second) end(link, 's', link.from_row, link.from_ns);
    end(link, 'f', link.to_row, link.to_ns);
  }
  return out;
}

std::string spanTexts(const TraceInfo& info, const TraceTotals& totals, int64_t base_ns, bool numeric) {
  const std::string start = microseconds(info.start_ns - base_ns);
  const std::string end = microseconds(totals.end_ns - base_ns);
  std::string out;
  if (!numeric) {
    out += fmt::format(
        ",\n{{\"ph\": \"X\", \"cat\": \"Trace\", \"ts\": {}, \"dur\": {}, \"pid\": \"Spans\", \"tid\": \"{}\", \"name\": \"{} (0)\", "
        "\"args\": {{\"Op count\": {}}}}}",
        start, microseconds(totals.end_ns - info.start_ns), kSpanName, kSpanName, totals.events);
    out += fmt::format(
        ",\n{{\"ph\": \"M\", \"name\": \"process_sort_index\", \"ts\": {}, \"pid\": \"Spans\", \"tid\": 0, \"args\": {{\"sort_index\": "
        "536870912}}}}",
        start);
    out += fmt::format(
        ",\n{{\"ph\": \"i\", \"s\": \"g\", \"name\": \"Iteration Start: {}\", \"pid\": \"Traces\", \"tid\": \"Trace {}\", \"ts\": {}}}",
        kSpanName, kSpanName, start);
  }
  const std::string place = numeric ? fmt::format("{}, \"tid\": 0", readableId(info.process_id)) : "\"\", \"tid\": \"\"";
  out += fmt::format(",\n{{\"ph\": \"i\", \"s\": \"g\", \"name\": \"Record Window End\", \"pid\": {}, \"ts\": {}}}", place, end);
  return out;
}

std::string countIfAny(std::string_view key, uint64_t count) {
  return count != 0 ? fmt::format(", \"{}\": {}", key, count) : std::string();
}

}  // namespace

std::string headText(const Trace& trace, int64_t base_ns) {
  constexpr std::string_view kDistributed = "distributedInfo";
  constexpr std::string_view kDeviceProperties = "deviceProperties";
  std::set<std::string> keys;  // as they are written: what is no UTF-8 may become the same text
  for (const char* const own : {"schemaVersion", "deviceProperties", "distributedInfo", "displayTimeUnit", "baseTimeNanoseconds",
                                "traceEvents", "traceName", "xsigmaLedger", "xsigmaAssembly", "clock"}) {
    keys.insert(base::quoted(own));
  }
  std::string out = "{\n\"schemaVersion\": 1,\n\"deviceProperties\": ";
  out += propertyOr(trace, kDeviceProperties, '[', "[]");
  out += ",\n\"distributedInfo\": ";
  out += withBlanks(propertyOr(trace, kDistributed, '{', R"({"backend": "", "rank": 0, "world_size": 1})"));
  for (const CaptureProperty& each : trace.info().properties) {
    if (each.key == kDistributed || each.key == kDeviceProperties) continue;
    std::string key = each.key;
    while (!keys.insert(base::quoted(key)).second) key.insert(0, "user ");
    out += fmt::format(",\n{}: {}", base::quoted(key), propertyText(each.json));
  }
  out += fmt::format(",\n\"clock\": \"{}\"",
                     trace.info().clock_is_system ? "CLOCK_MONOTONIC: no invariant cycle counter was used" : "cycle counter");
  out += fmt::format(",\n\"xsigmaLedger\": {}", ledgerText(trace.ledger()));
  out += fmt::format(",\n\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": {},\n\"traceEvents\": [", base_ns);
  const std::string rows =
      processRows(trace.info().process_id, propertyOr(trace, "process_name", '"', "\"\""), "CPU", trace.info().start_ns - base_ns);
  out.append(rows, 1);  // the first event has no comma before it
  return out;
}

std::string tailText(const Trace& trace, const TraceTotals& totals, int64_t base_ns, const std::string& path,
                     const ExportOptions& options) {
  std::string out = rowTexts(trace, totals, trace.info().start_ns - base_ns);
  out += linkTexts(totals, base_ns);
  out += spanTexts(trace.info(), totals, base_ns, options.numeric_ids_only);
  const bool memory_wanted = property(trace, "profile_memory") != nullptr;
  const char* const silent_memory =
      memory_wanted && totals.memory_events == 0 ? ", \"memory\": \"asked for, and nothing reported any\"" : "";
  out += fmt::format(
      "\n],\n\"xsigmaAssembly\": {{\"complete\": {}, \"events\": {}, \"unfinished\": {}, \"unmatched\": {}, \"overlapping\": {}, "
      "\"memory_events\": {}, \"before_launch\": {}{}{}{}}},\n\"traceName\": {}\n}}\n",
      totals.complete, totals.events, totals.unfinished, totals.unmatched, totals.overlapping, totals.memory_events, totals.before_launch,
      countIfAny("args_cut", totals.args_cut), countIfAny("annotations_cut", totals.annotations_cut), silent_memory, base::quoted(path));
  return out;
}

}  // namespace xsigma::profiler::exporters::chrome
