#include "kineto/trace_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace xsigma::profiler {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<bool> flag(std::string_view text) {
  if (text == "1" || text == "true" || text == "True" || text == "yes" || text == "on") return true;
  if (text == "0" || text == "false" || text == "False" || text == "no" || text == "off") return false;
  return {};
}

struct Flag {
  std::string_view key;
  bool ProfilerConfig::*field;
};

constexpr Flag kFlags[] = {
    {"PROFILE_REPORT_INPUT_SHAPES", &ProfilerConfig::report_input_shapes},
    {"PROFILE_PROFILE_MEMORY", &ProfilerConfig::profile_memory},
    {"PROFILE_WITH_STACK", &ProfilerConfig::with_stack},
    {"PROFILE_WITH_FLOPS", &ProfilerConfig::with_flops},
    {"PROFILE_WITH_MODULES", &ProfilerConfig::with_modules},
};
constexpr std::string_view kTraceId = "REQUEST_TRACE_ID";

}  // namespace

Status applyTraceConfig(std::string_view text, ProfilerConfig& config) {
  for (int line_number = 1; !text.empty(); ++line_number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const auto wrong = [&](std::string_view why) {
      return Status(StatusCode::invalid_argument, fmt::format("line {} of the trace's configuration, '{}': {}", line_number, line, why));
    };
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) return wrong("there is no '='. Write KEY=VALUE");
    const std::string_view key = trimmed(line.substr(0, equals));
    const std::string_view value = trimmed(line.substr(equals + 1));
    if (key == kTraceId) {
      config.trace_id = value;
      continue;
    }
    const Flag* const known = std::find_if(std::begin(kFlags), std::end(kFlags), [&](const Flag& each) { return each.key == key; });
    if (known == std::end(kFlags)) {
      std::string keys(kTraceId);
      for (const Flag& each : kFlags) keys += fmt::format(", {}", each.key);
      return wrong(fmt::format("this key cannot be honoured here. Use {}", keys));
    }
    const std::optional<bool> on = flag(value);
    if (!on) return wrong("the value is neither true nor false");
    config.*known->field = *on;
  }
  return {};
}

}  // namespace xsigma::profiler
