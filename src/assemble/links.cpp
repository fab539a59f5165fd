#include "assemble/links.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace xsigma::profiler::assemble {

std::vector<TraceLink> linkForwardBackward(const std::vector<TraceRow>& rows, const std::vector<Leftovers>& threads, uint64_t first_id) {
  // The first backward op of each key, and the best forward op found for it so far.
  struct Wanted {
    BackwardOp backward;
    const ForwardOp* forward = nullptr;
    uint32_t forward_row = 0;
  };
  const auto key = [](uint64_t thread, int64_t sequence_number) { return std::pair(thread, sequence_number); };
  std::map<std::pair<uint64_t, int64_t>, Wanted> wanted;
  for (const Leftovers& thread : threads) {
    for (const BackwardOp& op : thread.backward_ops) {
      const auto [entry, fresh] = wanted.try_emplace(key(op.forward_thread, op.sequence_number), Wanted{op});
      if (!fresh && op.start_ns < entry->second.backward.start_ns) entry->second.backward = op;
    }
  }
  if (wanted.empty()) return {};
  for (uint32_t row = 0; row < threads.size(); ++row) {
    for (const ForwardOp& op : threads[row].forward_ops) {
      const auto found = wanted.find(key(rows[row].logical_id, op.sequence_number));
      if (found == wanted.end() || op.start_ns > found->second.backward.start_ns) continue;
      Wanted& link = found->second;
      if (link.forward != nullptr && link.forward->start_ns > op.start_ns) continue;
      link.forward = &op;
      link.forward_row = row;
    }
  }
  std::vector<TraceLink> links;
  for (const auto& [ignored, link] : wanted) {
    if (link.forward == nullptr) continue;
    links.push_back({TraceLink::Kind::forward_backward, 0, link.forward_row, link.backward.row, link.forward->start_ns, link.backward.start_ns,
                     link.forward->id, link.backward.id});
  }
  std::stable_sort(links.begin(), links.end(), [](const TraceLink& a, const TraceLink& b) { return a.from_ns < b.from_ns; });
  for (TraceLink& link : links) link.id = first_id++;
  return links;
}

std::vector<TraceLink> linkFlows(std::vector<FlowEnd> ends) {
  std::stable_sort(ends.begin(), ends.end(), [](const FlowEnd& a, const FlowEnd& b) {
    return std::tuple(a.type, a.id, !a.start, a.ns) < std::tuple(b.type, b.id, !b.start, b.ns);
  });
  std::vector<TraceLink> links;
  const FlowEnd* start = nullptr;
  for (const FlowEnd& end : ends) {
    if (end.start) {
      if (start == nullptr || start->type != end.type || start->id != end.id) start = &end;
      continue;
    }
    const bool known = end.type == static_cast<uint8_t>(TraceLink::Kind::forward_backward) || end.type == static_cast<uint8_t>(TraceLink::Kind::launch);
    if (start == nullptr || start->type != end.type || start->id != end.id || !known) continue;
    links.push_back({static_cast<TraceLink::Kind>(end.type), end.id, start->row, end.row, start->ns, end.ns, start->event, end.event});
  }
  return links;
}

}  // namespace xsigma::profiler::assemble
