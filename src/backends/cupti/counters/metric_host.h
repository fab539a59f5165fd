// MetricHost: what metrics a chip has, how they are scheduled, and what the counted numbers mean. No device is touched.
#pragma once

#include <string>
#include <vector>

#include "backends/cupti/counters/counter_api.h"

namespace xsigma::profiler::backends::cupti {

// What to count on one kind of chip: made once, then used by every context or device of that chip.
struct MetricPlan {
  CUpti_ProfilerType way = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  std::string chip;                   // "GH100"
  std::vector<uint8_t> availability;  // which counters the machine lets us have; empty = not asked
  std::vector<std::string> metrics;
  std::vector<uint8_t> config;  // the schedule
  size_t passes = 0;
};

// Not safe for several threads at a time.
class MetricHost {
 public:
  static Expected<MetricHost> open(const CounterApi& api, const MetricPlan& plan);
  MetricHost(MetricHost&& other) noexcept;
  MetricHost& operator=(MetricHost&&) = delete;
  ~MetricHost();

  // Adds to what is scheduled.
  CUptiResult add(const std::vector<std::string>& metrics);
  // Of what was added.
  CUptiResult schedule(std::vector<uint8_t>& config, size_t& passes) const;
  // One value for each name, of one range or sample of an image.
  CUptiResult evaluate(const std::vector<uint8_t>& image, size_t index, const std::vector<const char*>& names, double* values) const;

  // Without what follows the first dot.
  std::vector<std::string> baseNames() const;
  // What may follow the base's name: ".sum", ".avg.per_second".
  std::vector<std::string> suffixes(const std::string& base) const;

 private:
  MetricHost(const CounterApi& api, CUpti_Profiler_Host_Object* object) : api_(&api), object_(object) {}

  const CounterApi* api_;
  CUpti_Profiler_Host_Object* object_;
};

// Fills in config and passes of a plan whose other members are set. A name that the chip does not know, or a chip that the library does
// not, is an error that names what there is.
Status schedule(const CounterApi& api, MetricPlan& plan);

// An error unless the plan takes one pass: says how many it takes, and which of its metrics fit into one.
Status requireOnePass(const CounterApi& api, const MetricPlan& plan, std::string_view why);

}  // namespace xsigma::profiler::backends::cupti
