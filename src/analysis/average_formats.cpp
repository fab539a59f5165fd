// KeyAverages as CSV and JSON: all columns, in nanoseconds and bytes.
#include <fmt/format.h>

#include "analysis/average_order.h"
#include "base/json_text.h"
#include "base/output_file.h"

namespace xsigma::profiler {
namespace {

std::string stackText(const KeyAverage& row) { return fmt::format("{}", fmt::join(row.stack, ";")); }

// RFC 4180: what holds a separator, a quote or the end of a line stands in quotes.
std::string csvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

struct NumberColumn {
  const char* name;
  std::string (*text)(const KeyAverage&);
};

// Shortest text that is the same number again.
std::string real(double value) {
  std::string out;
  base::appendReal(out, value);
  return out;
}

constexpr NumberColumn kNumbers[] = {
    {"calls", [](const KeyAverage& row) { return fmt::to_string(row.calls); }},
    {"unfinished", [](const KeyAverage& row) { return fmt::to_string(row.unfinished); }},
    {"self_cpu_time_total_ns", [](const KeyAverage& row) { return fmt::to_string(row.self_cpu_ns); }},
    {"cpu_time_total_ns", [](const KeyAverage& row) { return fmt::to_string(row.cpu_total_ns); }},
    {"self_device_time_total_ns", [](const KeyAverage& row) { return fmt::to_string(row.self_device_ns); }},
    {"device_time_total_ns", [](const KeyAverage& row) { return fmt::to_string(row.device_total_ns); }},
    {"self_cpu_memory_usage", [](const KeyAverage& row) { return fmt::to_string(row.self_cpu_bytes); }},
    {"cpu_memory_usage", [](const KeyAverage& row) { return fmt::to_string(row.cpu_bytes); }},
    {"self_device_memory_usage", [](const KeyAverage& row) { return fmt::to_string(row.self_device_bytes); }},
    {"device_memory_usage", [](const KeyAverage& row) { return fmt::to_string(row.device_bytes); }},
    {"flops", [](const KeyAverage& row) { return fmt::to_string(row.flops); }},
    {"min_ns", [](const KeyAverage& row) { return fmt::to_string(row.durations.min); }},
    {"max_ns", [](const KeyAverage& row) { return fmt::to_string(row.durations.max); }},
    {"mean_ns", [](const KeyAverage& row) { return real(row.durations.mean); }},
    {"median_ns", [](const KeyAverage& row) { return real(row.durations.median); }},
    {"stddev_ns", [](const KeyAverage& row) { return real(row.durations.stddev); }},
    {"p95_ns", [](const KeyAverage& row) { return real(row.durations.p95); }},
    {"p99_ns", [](const KeyAverage& row) { return real(row.durations.p99); }},
};

const char* flag(bool value) { return value ? "true" : "false"; }

}  // namespace

std::string KeyAverages::csv(std::string_view sort_by) const {
  std::string out = "name,device,user_annotation,async,thread,input_shapes,stack";
  for (const NumberColumn& column : kNumbers) out += fmt::format(",{}", column.name);
  out += "\r\n";
  for (const KeyAverage* const row : analysis::inOrder(*contents_, sort_by)) {
    out += fmt::format("{},{},{},{},{},{},{}", csvField(row->name), analysis::wordOf(row->device), flag(row->is_user_annotation),
                       flag(row->is_async), csvField(row->thread), csvField(row->input_shapes), csvField(stackText(*row)));
    for (const NumberColumn& column : kNumbers) out += "," + column.text(*row);
    out += "\r\n";
  }
  return out;
}

std::string KeyAverages::json(std::string_view sort_by) const {
  std::string out = fmt::format(
      "{{\n\"schemaVersion\": 1,\n\"self_cpu_time_total_ns\": {},\n\"device_busy_ns\": {},\n\"wall_ns\": {},\n\"threads\": "
      "{},\n\"unfinished\": {},\n\"lost\": {},\n\"lost_of_devices\": {},\n\"complete\": "
      "{},\n\"rows\": [",
      contents_->self_cpu_ns, contents_->device_busy_ns, contents_->wall_ns, contents_->threads.size(), contents_->unfinished,
      contents_->lost, contents_->lost_of_devices, flag(contents_->complete));
  bool is_first = true;
  for (const KeyAverage* const row : analysis::inOrder(*contents_, sort_by)) {
    out += is_first ? "\n" : ",\n";
    is_first = false;
    out += fmt::format("{{\"name\": {}, \"device\": \"{}\", \"user_annotation\": {}, \"async\": {}", base::quoted(row->name),
                       analysis::wordOf(row->device), flag(row->is_user_annotation), flag(row->is_async));
    if (contents_->group_by.thread) out += ", \"thread\": " + base::quoted(row->thread);
    if (contents_->group_by.input_shapes) out += ", \"input_shapes\": " + base::quoted(row->input_shapes);
    if (contents_->group_by.stack_frames != 0) {
      out += ", \"stack\": [";
      for (size_t i = 0; i < row->stack.size(); ++i) out += (i != 0 ? ", " : "") + base::quoted(row->stack[i]);
      out += "]";
    }
    for (const NumberColumn& column : kNumbers) out += fmt::format(", \"{}\": {}", column.name, column.text(*row));
    out += "}";
  }
  return out + "\n]\n}\n";
}

void KeyAverages::save(const std::string& path) const {
  TableOptions all;
  all.row_limit = -1;
  save(path, all);
}

void KeyAverages::save(const std::string& path, const TableOptions& options) const {
  const std::string text = path.ends_with(".csv") ? csv(options.sort_by) : path.ends_with(".json") ? json(options.sort_by) : table(options);
  if (const Status status = base::writeFile(path, "the table", text); !status) throw ProfilerError(status.message());
}

}  // namespace xsigma::profiler
