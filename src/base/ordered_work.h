// OrderedWork: items taken from several lanes, worked on by several threads, given out one at a time in a fixed order.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace xsigma::profiler::base {

// How many threads to use if nobody says: the cores that this process may run on, at most 8.
unsigned usefulWorkers() noexcept;

// Runs body(worker) on `workers` threads, this one among them, and returns when all have. Our threads take no signals. Fewer threads run where the
// system gives no more. The first exception comes out here.
void runOnWorkers(unsigned workers, const std::function<void(unsigned worker)>& body);

// Work in numbered steps: step n belongs to lane n % lanes. The steps of a lane are taken in order, by one thread at a time; lanes are independent.
// The order of giving out is that of the numbers, whatever the number of threads.
struct OrderedSteps {
  std::function<bool(size_t lane, size_t place)> take;      // false: the lane is at its end
  std::function<void(unsigned worker, size_t place)> work;  // any number at once
  std::function<bool(size_t place)> give;                   // in order, one at a time. False: stop everything
};
void runOrdered(size_t lanes, unsigned workers, const OrderedSteps& steps);

// How many items are in use at once; `place` above is below that.
constexpr size_t orderedPlaces(unsigned workers) noexcept { return size_t{3} * workers; }

// The same with items of one type, made once and used again and again.
template <typename Item, typename Take, typename Work, typename Give>
void orderedWork(size_t lanes, unsigned workers, Take take, Work work, Give give) {
  std::vector<Item> items(orderedPlaces(workers));
  runOrdered(lanes, workers,
             {[&](size_t lane, size_t place) { return take(lane, items[place]); },
              [&](unsigned worker, size_t place) { work(worker, items[place]); },
              [&](size_t place) { return give(items[place]); }});
}

}  // namespace xsigma::profiler::base
