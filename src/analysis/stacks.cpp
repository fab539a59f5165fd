// exportStacks(): where time was spent, in the lines that flame graphs are drawn from.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analysis/average_order.h"
#include "assemble/event_table.h"
#include "base/output_file.h"
#include "base/saturating.h"
#include "xsigma/profiler/key_averages.h"

namespace xsigma::profiler {
namespace {

using assemble::EventTable;
using assemble::isOfDevice;
using Entry = EventTable::Entry;

bool isHostSlice(const TraceEvent& event) { return event.kind == TraceEventKind::slice && !isOfDevice(event); }
bool isScope(const TraceEvent& event) {
  return (event.kind == TraceEventKind::slice || event.kind == TraceEventKind::async_slice) && (event.flags & kEventGiven) == 0;
}

// All stacks that occur, as a tree: a node is a scope under another node, or under native frames.
class StackTree {
 public:
  explicit StackTree(const EventTable& table) : table_(table), nodes_(1) {
    places_.resize(table.entries.size(), kRoot);
    for (size_t i = 0; i < table.entries.size(); ++i) {
      const Entry& entry = table.entries[i];
      if (entry.event.kind != TraceEventKind::slice && entry.event.kind != TraceEventKind::async_slice) continue;
      const bool has_frames = entry.details != nullptr && entry.details->stack != 0;
      const uint32_t under = has_frames                            ? child(kRoot, entry.details->stack, true)
                             : entry.parent == assemble::kNoParent ? kRoot
                                                                   : places_[entry.parent];
      places_[i] = child(under, entry.event.name, false);
    }
  }

  void spend(size_t entry, int64_t ns) { base::addTo(nodes_[places_[entry]].ns, ns); }
  void spendUnder(size_t asker, uint32_t name, int64_t ns) { base::addTo(nodes_[child(places_[asker], name, false)].ns, ns); }
  void spendAtRoot(uint32_t name, int64_t ns) { base::addTo(nodes_[child(kRoot, name, false)].ns, ns); }

  // Sorted. Different places of one name make one line.
  std::string text() const {
    std::unordered_map<std::string, int64_t> lines;
    for (const Node& node : nodes_) {
      if (node.ns != 0) base::addTo(lines[lineOf(node)], node.ns);
    }
    std::vector<std::string> sorted;
    for (const auto& [line, ns] : lines) sorted.push_back(fmt::format("{} {}\n", line, (ns + 500) / 1000));
    std::sort(sorted.begin(), sorted.end());
    return fmt::format("{}", fmt::join(sorted, ""));
  }

 private:
  static constexpr uint32_t kRoot = 0;
  struct Node {
    uint32_t under = kRoot;
    uint32_t name = 0;
    bool is_frames = false;  // `name` is a stack of native frames
    int64_t ns = 0;
  };

  uint32_t child(uint32_t under, uint32_t name, bool is_frames) {
    auto& known = is_frames ? known_frames_ : known_;
    const auto [found, is_new] = known.emplace((uint64_t{under} << 32) | name, static_cast<uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({under, name, is_frames});
    return found->second;
  }

  std::string lineOf(const Node& leaf) const {
    std::vector<std::string> frames;  // innermost first
    for (const Node* node = &leaf; node != &nodes_[kRoot]; node = &nodes_[node->under]) {
      if (!node->is_frames) {
        frames.emplace_back(table_.trace->name(node->name).text);
        continue;
      }
      for (std::string& frame : table_.trace->stack(node->name)) frames.push_back(std::move(frame));
    }
    std::string line;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      if (!line.empty()) line += ';';
      for (const char c : *frame) line += c == ' ' || c == ';' || c == '\t' || c == '\n' || c == '\r' ? '_' : c;
    }
    return line;
  }

  const EventTable& table_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, uint32_t> known_;
  std::unordered_map<uint64_t, uint32_t> known_frames_;
  std::vector<uint32_t> places_;  // of the entries
};

void spendOnCpu(const EventTable& table, StackTree& tree) {
  for (size_t i = 0; i < table.entries.size(); ++i) {
    const Entry& entry = table.entries[i];
    if (!isHostSlice(entry.event)) continue;
    tree.spend(i, entry.event.duration_ns);
    uint32_t parent = entry.parent;
    while (parent != assemble::kNoParent && !isHostSlice(table.entries[parent].event)) parent = table.entries[parent].parent;
    if (parent != assemble::kNoParent) tree.spend(parent, -entry.event.duration_ns);
  }
}

void spendOnDevices(const EventTable& table, StackTree& tree) {
  std::unordered_map<uint64_t, size_t> askers;
  for (size_t i = 0; i < table.entries.size(); ++i) {
    if (isScope(table.entries[i].event)) askers.emplace(table.entries[i].event.id, i);
  }
  for (const Entry& entry : table.entries) {
    if (!isOfDevice(entry.event) || entry.event.type == libkineto::ActivityType::GPU_USER_ANNOTATION) continue;
    const auto asker = entry.details != nullptr ? askers.find(entry.details->linked_id) : askers.end();
    if (asker != askers.end()) {
      tree.spendUnder(asker->second, entry.event.name, entry.event.duration_ns);
    } else {
      tree.spendAtRoot(entry.event.name, entry.event.duration_ns);
    }
  }
}

}  // namespace

void exportStacks(const Capture& capture, const std::string& path, std::string_view metric) {
  const std::string plain = analysis::withoutDeviceWord(metric);
  const bool of_device = plain == "self_device_time_total";
  if (!of_device && plain != "self_cpu_time_total") {
    throw ProfilerError(fmt::format("stacks cannot be exported by '{}'. Use self_cpu_time_total or self_device_time_total", metric));
  }
  const std::shared_ptr<EventTable> table = assemble::tabulate(assembleTrace(capture));
  StackTree tree(*table);
  of_device ? spendOnDevices(*table, tree) : spendOnCpu(*table, tree);
  if (const Status status = base::writeFile(path, "the stacks", tree.text()); !status) throw ProfilerError(status.message());
}

}  // namespace xsigma::profiler
