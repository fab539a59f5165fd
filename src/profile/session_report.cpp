#include "profile/session_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/json_text.h"
#include "xsigma/profiler/memory_profile.h"

namespace xsigma::profiler::profile {
namespace {

// Scopes of one name under one parent, together.
struct ScopeNode {
  std::string name;
  uint64_t calls = 0;
  int64_t total_ns = 0;
  std::vector<ScopeNode> children;

  ScopeNode& child(const std::string& wanted) {
    const auto found = std::find_if(children.begin(), children.end(), [&](const ScopeNode& each) { return each.name == wanted; });
    if (found != children.end()) return *found;
    children.push_back({wanted, 0, 0, {}});
    return children.back();
  }
};

void add(ScopeNode& parent, const std::vector<std::shared_ptr<Result>>& events) {
  for (const std::shared_ptr<Result>& event : events) {
    if (event->tag() != EventType::TorchOp) continue;
    ScopeNode& node = parent.child(event->name());
    ++node.calls;
    node.total_ns += event->durationNS();
    add(node, event->children_);
  }
}

ScopeNode treeOf(const ProfilerResult& result) {
  ScopeNode root;
  add(root, result.event_tree());
  return root;
}

void appendLines(std::string& out, const ScopeNode& node, size_t depth) {
  for (const ScopeNode& each : node.children) {
    out += fmt::format("{:{}}{}: {} calls, {:.3f} ms\n", "", 2 * depth, each.name, each.calls, static_cast<double>(each.total_ns) * 1e-6);
    appendLines(out, each, depth + 1);
  }
}

std::string treeJson(const ScopeNode& node) {
  std::string out = "[";
  for (const ScopeNode& each : node.children) {
    out += fmt::format("{}{{\"name\": {}, \"calls\": {}, \"total_ns\": {}, \"children\": {}}}", out.size() > 1 ? ", " : "",
                       base::quoted(each.name), each.calls, each.total_ns, treeJson(each));
  }
  return out + "]";
}

// The most that was held at once of what was allocated since the start.
uint64_t peakBytes(const ProfilerResult& result) {
  uint64_t peak = 0;
  const MemoryProfile memory = analyzeMemory(result.capture());
  for (const MemoryDevice& each : memory.devices) {
    if (each.device.type == DeviceType::CPU) peak = std::max(peak, each.peak.bytes);
  }
  return peak;
}

std::string forPeople(const ProfilerResult& result, const KeyAverages& averages, const profiler_session_options& options) {
  TableOptions table;
  table.row_limit = -1;
  table.statistics = options.statistical_analysis || options.percentiles;
  std::string out = averages.table(table);
  if (options.peak_memory_tracking) out += fmt::format("Peak memory: {} bytes\n", peakBytes(result));
  if (options.hierarchical_profiling) {
    out += "Scopes by caller:\n";
    appendLines(out, treeOf(result), 1);
  }
  return out;
}

std::string asJson(const ProfilerResult& result, const KeyAverages& averages, const profiler_session_options& options) {
  std::string out = fmt::format("{{\"averages\": {}", averages.json());
  if (options.peak_memory_tracking) out += fmt::format(",\n\"peak_memory_bytes\": {}", peakBytes(result));
  if (options.hierarchical_profiling) out += fmt::format(",\n\"tree\": {}", treeJson(treeOf(result)));
  return out + "}\n";
}

}  // namespace

std::string sessionReport(const ProfilerResult& result, const profiler_session_options& options) {
  const KeyAverages averages = result.keyAverages();
  switch (options.output_format) {
    case profiler_output_format::JSON: return asJson(result, averages, options);
    case profiler_output_format::CSV: return averages.csv();
    default: return forPeople(result, averages, options);
  }
}

}  // namespace xsigma::profiler::profile
