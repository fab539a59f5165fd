#include "analysis/durations.h"

#include <array>
#include <bit>
#include <cmath>

namespace xsigma::profiler::analysis {
namespace {

constexpr size_t kLeastBlock = 8;
constexpr size_t kFew = 4096;        // sorting them costs less than clearing the counts of all classes
constexpr size_t kMostBlock = 16384;  // 64 KiB: small enough that freed ones are used again

// Classes of values, 256 to a power of two: the larger values are in the later classes. Below 512 each class is one value.
constexpr unsigned kClassBits = 8;
constexpr uint64_t kInClass = uint64_t{1} << kClassBits;
constexpr size_t kClasses = (64 - kClassBits + 1) * kInClass;
size_t classOf(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  if (bits < kInClass) return bits;
  const unsigned shift = static_cast<unsigned>(std::bit_width(bits)) - 1 - kClassBits;
  return (shift + size_t{1}) * kInClass + ((bits >> shift) & (kInClass - 1));
}

// The values of a few ranks among many: counts how many lie in each class, and sorts only those that share one with a rank.
class Ranks {
 public:
  void count(int64_t value) { ++counts_[classOf(value)]; }

  void want(size_t rank) {
    size_t below = 0;
    size_t place = 0;
    while (below + counts_[place] <= rank) below += counts_[place++];
    const bool known = std::any_of(wanted_.begin(), wanted_.end(), [=](const Wanted& each) { return each.place == place; });
    if (!known) wanted_.push_back({place, below, {}});
  }
  bool needsValues() const {
    return std::any_of(wanted_.begin(), wanted_.end(), [](const Wanted& each) { return each.place >= 2 * kInClass; });
  }
  void collect(int64_t value) {
    const size_t place = classOf(value);
    for (Wanted& each : wanted_) {
      if (each.place == place) [[unlikely]]
        each.values.push_back(value);
    }
  }
  void sort() {
    for (Wanted& each : wanted_) std::sort(each.values.begin(), each.values.end());
  }
  double at(size_t rank) const {
    const auto found = std::find_if(wanted_.begin(), wanted_.end(),
                                    [&](const Wanted& each) { return rank >= each.below && rank < each.below + counts_[each.place]; });
    if (found == wanted_.end()) return 0;
    return static_cast<double>(found->values.empty() ? static_cast<int64_t>(found->place) : found->values[rank - found->below]);
  }

 private:
  struct Wanted {
    size_t place;
    size_t below;  // how many lie in the classes before it
    std::vector<int64_t> values;
  };
  std::vector<uint64_t> counts_ = std::vector<uint64_t>(kClasses);
  std::vector<Wanted> wanted_;
};

// The value a share of the way from the smallest to the largest, between neighbours in proportion; `at` gives the value of a rank.
template <typename At>
double quantile(double share, size_t count, At at) {
  const double rank = share * static_cast<double>(count - 1);
  const auto below = static_cast<size_t>(rank);
  const double lower = at(below);
  return lower + (rank - static_cast<double>(below)) * (at(std::min(below + 1, count - 1)) - lower);
}

template <typename At>
void setQuantiles(Statistics& result, size_t count, At at) {
  result.median = quantile(0.5, count, at);
  result.p95 = quantile(0.95, count, at);
  result.p99 = quantile(0.99, count, at);
}

// Sums from the first value on: they stay small, and equal durations deviate by exactly nothing.
class Moments {
 public:
  explicit Moments(int64_t origin) : origin_(origin), min_(origin), max_(origin) {}

  void add(int64_t value) {
    const int64_t above = value - origin_;
    sum_ += static_cast<double>(above);
    squares_ += static_cast<double>(above) * static_cast<double>(above);
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }
  void put(Statistics& result, size_t count) const {
    const double mean_above = sum_ / static_cast<double>(count);
    result.min = min_;
    result.max = max_;
    result.mean = static_cast<double>(origin_) + mean_above;
    result.stddev = std::sqrt(std::max(0.0, squares_ / static_cast<double>(count) - mean_above * mean_above));
  }

 private:
  int64_t origin_;
  int64_t min_;
  int64_t max_;
  double sum_ = 0;
  double squares_ = 0;
};

}  // namespace

void Durations::grow() {
  const size_t size = blocks_.empty() ? kLeastBlock : std::min(kMostBlock, blocks_.back().size * 2);
  blocks_.push_back({std::unique_ptr<uint32_t[]>(new uint32_t[size]), size});
  next_ = blocks_.back().values.get();
  end_ = next_ + size;
}

template <typename Visit>
void Durations::forEach(Visit visit) const {
  for (const Block& block : blocks_) {
    const uint32_t* const last = &block == &blocks_.back() ? next_ : block.values.get() + block.size;
    for (const uint32_t* value = block.values.get(); value != last; ++value) visit(*value);
  }
  for (const int64_t value : long_) visit(value);
}

size_t Durations::size() const {
  size_t size = 0;
  for (const Block& block : blocks_) size += block.size;
  return size - static_cast<size_t>(end_ - next_) + long_.size();
}

Statistics Durations::statistics() const {
  Statistics result;
  const size_t count = size();
  if (count == 0) return result;
  Moments moments(blocks_.empty() ? long_.front() : blocks_.front().values[0]);
  if (count < kFew) {
    std::vector<int64_t> sorted;
    sorted.reserve(count);
    forEach([&](int64_t value) {
      moments.add(value);
      sorted.push_back(value);
    });
    std::sort(sorted.begin(), sorted.end());
    setQuantiles(result, count, [&](size_t rank) { return static_cast<double>(sorted[rank]); });
  } else {
    Ranks ranks;
    forEach([&](int64_t value) {
      moments.add(value);
      ranks.count(value);
    });
    setQuantiles(result, count, [&](size_t rank) { return ranks.want(rank), 0.0; });
    if (ranks.needsValues()) forEach([&](int64_t value) { ranks.collect(value); });
    ranks.sort();
    setQuantiles(result, count, [&](size_t rank) { return ranks.at(rank); });
  }
  moments.put(result, count);
  return result;
}

}  // namespace xsigma::profiler::analysis
