#include "base/environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace xsigma::profiler::base {

std::optional<std::string> environmentText(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == 0) return std::nullopt;
  return value;
}

Expected<std::optional<size_t>> environmentChoice(const char* name, const std::vector<std::string>& choices) {
  const std::optional<std::string> value = environmentText(name);
  if (!value) return std::optional<size_t>();
  const auto found = std::find(choices.begin(), choices.end(), *value);
  if (found == choices.end()) {
    return Status(StatusCode::invalid_argument,
                  fmt::format("{}='{}' is not known. Set it to one of: {}", name, *value, fmt::join(choices, ", ")));
  }
  return std::optional<size_t>(static_cast<size_t>(found - choices.begin()));
}

Expected<std::optional<size_t>> environmentBytes(const char* name) {
  const std::optional<std::string> value = environmentText(name);
  if (!value) return std::optional<size_t>();
  const Status bad(
      StatusCode::invalid_argument,
      fmt::format("{}='{}' is not a number of bytes. Set it to digits, with K, M or G behind them if you like: 64M", name, *value));
  size_t number = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
  if (error != std::errc()) return bad;
  const std::string unit(end, value->data() + value->size());
  constexpr std::string_view kUnits = "KMG";
  size_t factor = 1;
  if (!unit.empty()) {
    const size_t power = kUnits.find(static_cast<char>(unit[0] & ~0x20));
    const bool known = power != std::string_view::npos &&
                       (unit.size() == 1 || (unit.size() == 2 && (unit[1] | 0x20) == 'b') || (unit.size() == 3 && unit.substr(1) == "iB"));
    if (!known) return bad;
    factor = size_t{1} << (10 * (power + 1));
  }
  if (number > SIZE_MAX / factor) return bad;
  return std::optional<size_t>(number * factor);
}

}  // namespace xsigma::profiler::base
