#include "assemble/start_order.h"

#include <algorithm>
#include <array>
#include <bit>

namespace xsigma::profiler::assemble {
namespace {

constexpr size_t kFew = 2048;  // for which comparing costs less than counting
constexpr unsigned kDigitBits = 11;
constexpr size_t kDigits = size_t{1} << kDigitBits;

size_t digitOf(uint64_t start, unsigned shift) { return (start >> shift) & (kDigits - 1); }

}  // namespace

// Digit by digit, the lowest first: each pass keeps the order of those before it.
void sortByStart(std::vector<StartPlace>& places) {
  if (places.size() < kFew) {
    std::stable_sort(places.begin(), places.end(), [](const StartPlace& a, const StartPlace& b) { return a.start < b.start; });
    return;
  }
  const auto [least, most] = std::minmax_element(places.begin(), places.end(), [](const StartPlace& a, const StartPlace& b) { return a.start < b.start; });
  const uint64_t first = least->start;
  const auto bits = static_cast<unsigned>(std::bit_width(most->start - first));
  std::vector<StartPlace> other(places.size());
  for (unsigned shift = 0; shift < bits; shift += kDigitBits) {
    std::array<size_t, kDigits> next{};
    for (const StartPlace& place : places) ++next[digitOf(place.start - first, shift)];
    size_t before = 0;
    for (size_t& count : next) {
      const size_t here = count;
      count = before;
      before += here;
    }
    for (const StartPlace& place : places) other[next[digitOf(place.start - first, shift)]++] = place;
    places.swap(other);
  }
}

}  // namespace xsigma::profiler::assemble
