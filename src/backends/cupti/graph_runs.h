// GraphRuns: all that one launch of a graph did, as one activity. CUPTI has a record for that, too, but its library of CUDA 13.0 crashes in the launch of any
// graph that was instantiated before that record was asked for; so it is made here, of the records of the nodes.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "backends/cupti/records.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::cupti {

class GraphRuns {
 public:
  enum Node : uint32_t { kKernel, kCopy, kFill, kNodeKinds };

  explicit GraphRuns(BackendOutput& output) : output_(output) {}

  // `over`: the node has run; otherwise its launch goes on, and has no end yet.
  void add(const WorkRecord& node, Node kind, bool over);
  // A period of the worker has passed: launches that nothing was added to for a while are whole.
  void tick();
  // After the last record.
  void finish();

 private:
  // The nodes of a launch come together, unless some run much longer than others; those that come later are a further activity of the same launch.
  static constexpr uint64_t kWholeAfter = 2;  // periods
  // Launches. From many on, those of earlier periods are put, once in a period; at most so many are kept.
  static constexpr size_t kManyOpen = 1 << 14;
  static constexpr size_t kMostOpen = 1 << 17;

  struct Run {
    WorkRecord work;  // from the first begin to the last end; the first one's stream
    uint32_t nodes[kNodeKinds]{};
    bool over = true;
    uint64_t touched = 0;
  };

  void putBefore(uint64_t period);
  void put(const Run& run);

  BackendOutput& output_;
  std::unordered_map<uint64_t, Run> open_;  // by device and correlation
  uint64_t period_ = 0;
  uint64_t swept_ = 0;
  uint32_t form_ = 0;
};

}  // namespace xsigma::profiler::backends::cupti
