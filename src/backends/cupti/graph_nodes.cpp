#include "backends/cupti/graph_nodes.h"

namespace xsigma::profiler::backends::cupti {

GraphNodes::GraphNodes() noexcept {
  for (uint64_t place = 0; place < kCapacity; ++place) places_[place].turn.store(place, std::memory_order_relaxed);
}

bool GraphNodes::push(const GraphNode& node) noexcept {
  uint64_t number = tail_.load(std::memory_order_relaxed);
  for (;;) {
    Place& place = places_[number % kCapacity];
    const uint64_t turn = place.turn.load(std::memory_order_acquire);
    if (turn == number) {
      if (!tail_.compare_exchange_weak(number, number + 1, std::memory_order_relaxed)) continue;
      place.node = node;
      place.turn.store(number + 1, std::memory_order_release);
      return true;
    }
    if (turn < number) {
      lost_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    number = tail_.load(std::memory_order_relaxed);
  }
}

bool GraphNodes::pop(GraphNode& node) noexcept {
  Place& place = places_[head_ % kCapacity];
  if (place.turn.load(std::memory_order_acquire) != head_ + 1) return false;
  node = place.node;
  place.turn.store(head_ + kCapacity, std::memory_order_release);
  ++head_;
  return true;
}

}  // namespace xsigma::profiler::backends::cupti
