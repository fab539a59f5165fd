#include "backends/cupti/counters/near_names.h"

#include <algorithm>
#include <numeric>

namespace xsigma::profiler::backends::cupti {
namespace {

size_t lettersToChange(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j + 1] + 1, row[j] + 1});
    }
  }
  return row[to.size()];
}

// Names begin with the unit that counts: sm__, dram__, lts__.
std::string_view unitOf(std::string_view name) { return name.substr(0, name.find("__")); }

}  // namespace

std::vector<std::string> nearNames(std::string_view wanted, const std::vector<std::string>& names, size_t count) {
  struct Candidate {
    size_t distance;
    const std::string* name;
  };
  std::vector<Candidate> candidates;
  candidates.reserve(names.size());
  for (const std::string& name : names) {
    const size_t stranger = unitOf(name) == unitOf(wanted) ? 0 : 4;
    candidates.push_back({lettersToChange(wanted, name) + stranger, &name});
  }
  count = std::min(count, candidates.size());
  std::partial_sort(
      candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.distance != b.distance ? a.distance < b.distance : *a.name < *b.name; });
  std::vector<std::string> nearest;
  for (size_t i = 0; i < count; ++i) nearest.push_back(*candidates[i].name);
  return nearest;
}

}  // namespace xsigma::profiler::backends::cupti
