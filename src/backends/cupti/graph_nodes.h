// GraphNodes: nodes that the program's threads put into graphs, on their way to the worker. A ring; pushing neither locks nor allocates.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace xsigma::profiler::backends::cupti {

struct GraphNode {
  uint64_t ticks = 0;
  uint64_t node = 0;
  uint64_t origin = 0;  // the node it was copied from; 0 = none
  uint32_t thread = 0;
};

class GraphNodes {
 public:
  static constexpr size_t kCapacity = size_t{1} << 15;

  GraphNodes() noexcept;

  // Any thread. False: full, and counted.
  bool push(const GraphNode& node) noexcept;
  // One thread at a time. False: none.
  bool pop(GraphNode& node) noexcept;
  // How many have found no room since the last time that it was asked.
  uint64_t takeLost() noexcept { return lost_.exchange(0, std::memory_order_relaxed); }
  // How many were pushed so far: whoever pushes may wake the reader now and then.
  uint64_t pushed() const noexcept { return tail_.load(std::memory_order_relaxed); }

 private:
  // A place is free for the push of this number, or holds that of the number before.
  struct Place {
    std::atomic<uint64_t> turn{0};
    GraphNode node{};
  };

  std::array<Place, kCapacity> places_;
  std::atomic<uint64_t> tail_{0};
  uint64_t head_ = 0;
  std::atomic<uint64_t> lost_{0};
};

}  // namespace xsigma::profiler::backends::cupti
