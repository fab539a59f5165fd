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

// A base may have a dot of its own ("TriageCompute.sm__throughput"); what follows it begins with one.
size_t baseLength(const std::string& metric, const std::vector<std::string>& bases) {
  size_t length = 0;
  for (const std::string& base : bases) {
    const bool begins = metric.compare(0, base.size(), base) == 0 && (metric.size() == base.size() || metric[base.size()] == '.');
    if (begins) length = std::max(length, base.size());
  }
  return length;
}

// "sm__ctas_lunched.sum is not known; near are sm__ctas_launched.sum, …"
std::string describeUnknown(const MetricHost& host, const std::string& metric) {
  const std::vector<std::string> bases = host.baseNames();
  if (const size_t length = baseLength(metric, bases); length > 0) {
    const std::string base = metric.substr(0, length);
    const std::string suffix = length == metric.size() ? ".sum" : metric.substr(length);
    std::vector<std::string> complete;
    for (const std::string& near : nearNames(suffix, host.suffixes(base), kShownNames)) complete.push_back(base + near);
    if (complete.empty()) return fmt::format("\"{}\" cannot be counted that way", metric);
    return fmt::format("\"{}\" is not complete, or ends wrongly: {}", metric, fmt::join(complete, ", "));
  }
  const size_t unit = metric.find("__");
  const size_t dot = metric.find('.', unit == std::string::npos ? 0 : unit);
  std::vector<std::string> near = nearNames(metric.substr(0, dot), bases, kShownNames);
  for (std::string& name : near) name += dot == std::string::npos ? ".sum" : metric.substr(dot);
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
  return {StatusCode::invalid_argument, fmt::format("metrics{} of the chip {}: {}",
                                                    plan.way == CUPTI_PROFILER_TYPE_PM_SAMPLING ? " for samples" : "", plan.chip, unknown)};
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
