#include "profile/session_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "xsigma/profiler/memory_profile.h"

namespace xsigma::profiler::profile {
namespace {

// Scopes of one name under one parent, together. Recursion makes trees as deep as a stack can be: nothing here goes down by calling itself.
class ScopeTree {
 public:
  struct Node {
    std::string name;
    uint64_t calls = 0;
    int64_t total_ns = 0;
    std::vector<uint32_t> children;  // in the order they were first seen
  };

  explicit ScopeTree(const ProfilerResult& result) : nodes_(1) {
    struct Level {
      const std::vector<std::shared_ptr<Result>>* events;
      size_t next;
      uint32_t node;
    };
    std::vector<Level> open{{&result.event_tree(), 0, kRoot}};
    while (!open.empty()) {
      Level& level = open.back();
      if (level.next == level.events->size()) {
        open.pop_back();
        continue;
      }
      const Result& event = *(*level.events)[level.next++];
      if (event.tag() != EventType::TorchOp) continue;
      const uint32_t node = child(level.node, event.name());
      ++nodes_[node].calls;
      nodes_[node].total_ns += event.durationNS();
      open.push_back({&event.children_, 0, node});
    }
  }

  // Calls begin(node, depth, whether it is the first child) and end(), from the outermost scopes (depth 1) inwards.
  template <typename Begin, typename End>
  void walk(Begin begin, End end) const {
    std::vector<std::pair<uint32_t, size_t>> open{{kRoot, 0}};
    while (true) {
      auto& [node, next] = open.back();
      if (next < nodes_[node].children.size()) {
        const uint32_t inner = nodes_[node].children[next++];
        begin(nodes_[inner], open.size(), next == 1);
        open.emplace_back(inner, 0);
        continue;
      }
      open.pop_back();
      if (open.empty()) return;
      end();
    }
  }

 private:
  static constexpr uint32_t kRoot = 0;

  uint32_t child(uint32_t parent, std::string name) {
    const auto [found, is_new] = by_name_.try_emplace({parent, std::move(name)}, static_cast<uint32_t>(nodes_.size()));
    if (is_new) {
      nodes_[parent].children.push_back(found->second);
      nodes_.push_back({found->first.second, 0, 0, {}});
    }
    return found->second;
  }

  std::vector<Node> nodes_;
  std::map<std::pair<uint32_t, std::string>, uint32_t> by_name_;
};

void appendLines(std::string& out, const ScopeTree& tree) {
  constexpr size_t kDeepestIndent = 40;
  bool deeper = false;
  const auto begin = [&](const ScopeTree::Node& node, size_t depth, bool) {
    out.append(2 * std::min(depth, kDeepestIndent), ' ');
    if (depth > kDeepestIndent) fmt::format_to(std::back_inserter(out), "[level {}] ", depth);
    deeper |= depth > kDeepestIndent;
    fmt::format_to(std::back_inserter(out), "{}: {} calls, {:.3f} ms\n", node.name, node.calls, static_cast<double>(node.total_ns) * 1e-6);
  };
  tree.walk(begin, [] {});
  if (deeper)
    fmt::format_to(std::back_inserter(out), "Levels below {} are not indented further; their lines say which they are.\n", kDeepestIndent);
}

void appendJson(std::string& out, const ScopeTree& tree) {
  const auto begin = [&](const ScopeTree::Node& node, size_t, bool first) {
    fmt::format_to(std::back_inserter(out), "{}{{\"name\": {}, \"calls\": {}, \"total_ns\": {}, \"children\": [", first ? "" : ", ",
                   base::quoted(node.name), node.calls, node.total_ns);
  };
  out += '[';
  tree.walk(begin, [&] { out += "]}"; });
  out += ']';
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
    appendLines(out, ScopeTree(result));
  }
  return out;
}

std::string asJson(const ProfilerResult& result, const KeyAverages& averages, const profiler_session_options& options) {
  std::string out = fmt::format("{{\"averages\": {}", averages.json());
  if (options.peak_memory_tracking) out += fmt::format(",\n\"peak_memory_bytes\": {}", peakBytes(result));
  if (options.hierarchical_profiling) {
    out += ",\n\"tree\": ";
    appendJson(out, ScopeTree(result));
  }
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
