#include "assemble/links.h"

#include <algorithm>
#include <tuple>

namespace xsigma::profiler::assemble {

std::vector<TraceLink> linkForwardBackward(std::vector<LinkCandidate> candidates, uint64_t first_id) {
  const auto key = [](const LinkCandidate& op) { return std::tuple(op.thread, op.sequence_number); };
  // By key; forward ops first, the latest start last among them.
  std::stable_sort(candidates.begin(), candidates.end(), [&](const LinkCandidate& a, const LinkCandidate& b) {
    return std::tuple(key(a), a.backward, a.start_ns) < std::tuple(key(b), b.backward, b.start_ns);
  });
  std::vector<TraceLink> links;
  for (size_t from = 0; from < candidates.size();) {
    size_t end = from;
    while (end < candidates.size() && key(candidates[end]) == key(candidates[from])) ++end;
    const auto first = candidates.begin() + static_cast<std::ptrdiff_t>(from);
    const auto last = candidates.begin() + static_cast<std::ptrdiff_t>(end);
    const auto backward = std::find_if(first, last, [](const LinkCandidate& op) { return op.backward; });
    if (backward != last) {
      // The innermost forward op that had begun by then.
      const auto after = std::find_if(first, backward, [&](const LinkCandidate& op) { return op.start_ns > backward->start_ns; });
      if (after != first) {
        const LinkCandidate& forward = *(after - 1);
        links.push_back({TraceLink::Kind::forward_backward, 0, forward.row, backward->row, forward.start_ns, backward->start_ns, forward.id,
                         backward->id});
      }
    }
    from = end;
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
