#include "base/perf_counters.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace xsigma::profiler::base {
namespace {

struct Named {
  const char* name;
  uint32_t type;
  uint64_t config;
};

constexpr Named kKnown[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"frontend-stall-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"backend-stall-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"pagefaults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
};

Status refused(std::string message) { return {StatusCode::unsupported, "ExperimentalConfig::performance_events: " + std::move(message)}; }

}  // namespace

Expected<PerfPlan> planPerfEvents(const std::vector<std::string>& names) {
  if (names.size() > kMostPerfEvents)
    return refused(fmt::format("{} were asked for, at most {} can be counted at once", names.size(), kMostPerfEvents));
  PerfPlan plan;
  for (const std::string& name : names) {
    if (std::count(names.begin(), names.end(), name) > 1) return refused(fmt::format("'{}' was asked for twice. Name it once", name));
    const Named* const found = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Named& each) { return name == each.name; });
    if (found == std::end(kKnown)) {
      std::string known;
      for (const Named& each : kKnown) known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name);
      return refused(fmt::format("there is no counter '{}'. Use one of {}", name, known));
    }
    plan.events[plan.count++] = {found->type, found->config};
  }
  return plan;
}

Status checkPerfEvents(const std::vector<std::string>& names) {
  const Expected<PerfPlan> plan = planPerfEvents(names);
  if (!plan) return plan.status();
  for (uint32_t i = 0; i < plan->count; ++i) {
    PerfPlan one;
    one.events[0] = plan->events[i];
    one.count = 1;
    PerfCounters counters;
    const int error = counters.open(one);
    counters.close();
    if (error == 0) continue;
    const bool denied = error == EACCES || error == EPERM;
    return refused(fmt::format("'{}' cannot be counted here: {}. {}", names[i], std::strerror(error),
                               denied ? "Lower /proc/sys/kernel/perf_event_paranoid to 2 or less, or leave it out"
                                      : "This machine's kernel or virtual CPU does not offer it; leave it out"));
  }
  return {};
}

int PerfCounters::open(const PerfPlan& plan) noexcept {
  for (uint32_t i = 0; i < plan.count; ++i) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = plan.events[i].type;
    attributes.config = plan.events[i].config;
    attributes.exclude_kernel = plan.events[i].type == PERF_TYPE_HARDWARE;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_GROUP;
    const int leader = i == 0 ? -1 : files_[0];
    files_[i] = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
    if (files_[i] < 0) {
      const int error = errno;
      count_ = i;
      close();
      return error;
    }
  }
  count_ = plan.count;
  return 0;
}

void PerfCounters::close() noexcept {
  for (uint32_t i = 0; i < count_; ++i) ::close(files_[i]);
  count_ = 0;
}

void PerfCounters::read(uint64_t* values) const noexcept {
  uint64_t group[1 + kMostPerfEvents] = {};
  if (::read(files_[0], group, sizeof group) < 0) std::fill(std::begin(group), std::end(group), 0);
  std::copy(group + 1, group + 1 + count_, values);
}

}  // namespace xsigma::profiler::base
