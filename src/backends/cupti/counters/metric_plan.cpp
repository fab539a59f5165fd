#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "backends/cupti/counters/metric_host.h"
#include "backends/cupti/counters/near_names.h"

namespace xsigma::profiler::backends::cupti {
namespace {

constexpr size_t kShownNames = 4;

std::string knownChips(const CounterApi& api) {
  auto params = XSIGMA_COUNTER_PARAMS(CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames);
  if (api.cuptiProfilerHostGetSupportedChips(&params) != CUPTI_SUCCESS) return {};
  std::vector<std::string> names(params.ppChipNames, params.ppChipNames + params.numChips);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool knows(const CounterApi& api, const MetricPlan& plan, const std::string& metric) {
  Expected<MetricHost> host = MetricHost::open(api, plan);
  std::vector<uint8_t> config;
  size_t passes = 0;
  return host && host->add({metric}) == CUPTI_SUCCESS && host->schedule(config, passes) == CUPTI_SUCCESS;
}

// "sm__ctas_lunched.sum is not known; near are sm__ctas_launched.sum, …"
std::string describeUnknown(const MetricHost& host, const std::string& metric) {
  const size_t dot = metric.find('.');
  const std::string base = metric.substr(0, dot);
  const std::vector<std::string> bases = host.baseNames();
  if (std::find(bases.begin(), bases.end(), base) != bases.end()) {
    std::vector<std::string> complete;
    const std::vector<std::string> suffixes = host.suffixes(base);
    const std::string suffix = dot == std::string::npos ? ".sum" : metric.substr(dot);
    for (const std::string& near : nearNames(suffix, suffixes, kShownNames)) complete.push_back(base + near);
    if (complete.empty()) return fmt::format("\"{}\" is a metric that cannot be counted here", metric);
    return fmt::format("\"{}\" is not complete, or ends wrongly: {}", metric, fmt::join(complete, ", "));
  }
  std::vector<std::string> near = nearNames(base, bases, kShownNames);
  const std::string suffix = dot == std::string::npos ? ".sum" : metric.substr(dot);
  for (std::string& name : near) name += suffix;
  return fmt::format("\"{}\" is not known; near are {}", metric, fmt::join(near, ", "));
}

}  // namespace

Status schedule(const CounterApi& api, MetricPlan& plan) {
  if (plan.metrics.empty()) return {StatusCode::invalid_argument, "no metrics were named, such as sm__cycles_active.avg"};
  Expected<MetricHost> host = MetricHost::open(api, plan);
  if (!host) {
    return {StatusCode::unsupported, fmt::format("{} ({}) has no metrics for the chip {}: {}. It knows {}. A later CUPTI may know it",
                                                 api.path, api.version, plan.chip, host.message(), knownChips(api))};
  }
  CUptiResult result = host->add(plan.metrics);
  if (result == CUPTI_SUCCESS) result = host->schedule(plan.config, plan.passes);
  if (result == CUPTI_SUCCESS) return {};

  std::string unknown;
  for (const std::string& metric : plan.metrics) {
    if (!knows(api, plan, metric)) unknown += (unknown.empty() ? "" : "; ") + describeUnknown(*host, metric);
  }
  if (unknown.empty()) {
    return {StatusCode::invalid_argument, fmt::format("the metrics {} cannot be counted together on {}: {}. Ask for fewer at a time",
                                                      fmt::join(plan.metrics, ", "), plan.chip, api.nameOf(result))};
  }
  return {StatusCode::invalid_argument, fmt::format("metrics of the chip {}: {}", plan.chip, unknown)};
}

Status requireOnePass(const CounterApi& api, const MetricPlan& plan, std::string_view why) {
  if (plan.passes <= 1) return {};
  std::vector<std::string> fitting;
  std::vector<std::string> left;
  for (const std::string& metric : plan.metrics) {
    MetricPlan trial = plan;
    trial.metrics = fitting;
    trial.metrics.push_back(metric);
    (schedule(api, trial).ok() && trial.passes <= 1 ? fitting : left).push_back(metric);
  }
  return {StatusCode::invalid_argument,
          fmt::format("the metrics need {} passes on {}, and {}. {}; leave out {}", plan.passes, plan.chip, why,
                      fitting.empty() ? std::string("Not one of them fits into one pass")
                                      : fmt::format("Into one pass fit {}", fmt::join(fitting, ", ")),
                      fmt::join(left, ", "))};
}

}  // namespace xsigma::profiler::backends::cupti
