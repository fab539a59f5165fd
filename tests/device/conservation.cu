// Nothing is lost: a hundred thousand launches, counted here by kernel name, against what a session of the profiler has to show.
//
//     conservation [--launches N] [--output FILE.json.gz]
//
// Work comes from several streams, eight threads, default streams of both kinds, graphs, cooperative, programmatic and driver launches. What was
// launched goes into the trace as "deviceTest", so that check_links.py can hold the file to it: each piece of work has its call and its scope.
#include <xsigma/profiler/profiler.h>

#include <cstdio>
#include <cstring>
#include <set>
#include <string>

#include "cuda_checks.h"
#include "launch_groups.h"
#include "result_reading.h"

namespace device_tests {
namespace {

using namespace xsigma::profiler;

std::string jsonOf(const Counts& counts) {
  std::string json = "{";
  for (const auto& [name, count] : counts) json += (json.size() > 1 ? ", \"" : "\"") + name + "\": " + std::to_string(count);
  return json + "}";
}

// Which user scopes each kernel may belong to. A kernel of a graph belongs to its launch and to where its node was captured.
constexpr const char* kScopes = R"({
  "streams_kernel": ["streams"], "per_thread_kernel": ["per-thread default streams"], "default_stream_kernel": ["default stream"],
  "graph_kernel": ["graph launches", "graph capture"], "older_graph_kernel": ["older graph launches"],
  "cooperative_kernel<unsigned int>": ["cooperative launches"], "primary_kernel": ["programmatic dependent launches"],
  "secondary_kernel": ["programmatic dependent launches"], "driver_kernel": ["driver launches"], "short_thread_kernel": ["short threads"],
  "Memset": ["copies and fills", "per-thread default streams", "graph launches", "graph capture"],
  "Memcpy HtoD": ["copies and fills"], "Memcpy DtoH": ["copies and fills"],
  "Memcpy DtoD": ["copies and fills", "graph launches", "graph capture"]})";

struct Recorded {
  Counts kernels;
  Counts transfers;
};

Recorded recordedIn(const ProfilerResult& result) {
  Recorded recorded;
  for (const KinetoEvent& event : result.events()) {
    if (isKernel(event)) {
      ++recorded.kernels[plainName(event.name())];
    } else if (isCopyOrFill(event)) {
      ++recorded.transfers[plainName(event.name())];
    }
  }
  return recorded;
}

// Prints launched and recorded by name. Returns how many of the launched are missing; what was never launched counts as a failure.
uint64_t compare(const char* what, const Counts& launched, const Counts& recorded, int& failures) {
  uint64_t missing = 0;
  std::printf("%-36s %12s %12s\n", what, "launched", "recorded");
  for (const auto& [name, count] : launched) {
    const auto found = recorded.find(name);
    const uint64_t there = found != recorded.end() ? found->second : 0;
    std::printf("  %-34s %12llu %12llu%s\n", name.c_str(), static_cast<unsigned long long>(count), static_cast<unsigned long long>(there),
                there == count ? "" : "  <--");
    missing += count > there ? count - there : 0;
    failures += there > count ? 1 : 0;
  }
  for (const auto& [name, count] : recorded) {
    if (launched.count(name) != 0) continue;
    std::printf("  %-34s %12s %12llu  <--\n", name.c_str(), "", static_cast<unsigned long long>(count));
    ++failures;
  }
  std::printf("  %-34s %12llu %12llu\n", "all", static_cast<unsigned long long>(sumOf(launched)),
              static_cast<unsigned long long>(sumOf(recorded)));
  return missing;
}

// The ledger must come to what the program counted.
bool holds(const Ledger& ledger, uint64_t kernels, uint64_t transfers) {
  const DeviceLedger& device = ledger.device;
  std::printf("ledger: launched %llu = kernels %llu + pending %llu + dropped %llu; copies and fills %llu\n",
              static_cast<unsigned long long>(device.launched), static_cast<unsigned long long>(device.kernels),
              static_cast<unsigned long long>(device.pending), static_cast<unsigned long long>(device.dropped),
              static_cast<unsigned long long>(device.copies));
  return device.launched == kernels && device.kernels == kernels && device.pending == 0 && device.dropped == 0 &&
         device.copies == transfers && ledger.whole();
}

int run(uint64_t launches, const std::string& output) {
  prepareLaunches();
  ProfilerConfig config(ProfilerState::KINETO);
  config.experimental_config.profile_all_threads = true;
  config.experimental_config.expose_kineto_event_metadata = true;
  enableProfiler(config, {ActivityType::CPU, ActivityType::CUDA});
  const Launched launched = launchAll(LaunchPlan(launches));
  addMetadataJson("deviceTest", "{\"kernels\": " + jsonOf(launched.kernels) + ", \"transfers\": " + jsonOf(launched.transfers) +
                                    ", \"scopes\": " + kScopes + "}");
  const auto result = disableProfiler();
  printDevices(*result);

  const Recorded recorded = recordedIn(*result);
  int failures = 0;
  const uint64_t missing = compare("kernels", launched.kernels, recorded.kernels, failures);
  const uint64_t missing_transfers = compare("copies and fills", launched.transfers, recorded.transfers, failures);
  if (missing != 0 || missing_transfers != 0) ++failures;  // the device was waited for: nothing may be pending
  failures += holds(result->ledger(), sumOf(launched.kernels), sumOf(launched.transfers)) ? 0 : 1;
  if (!result->complete()) {
    std::printf("FAILED: the trace is not complete\n");
    ++failures;
  }
  if (!output.empty()) result->save(output);
  std::printf("%s conservation: %llu launches\n", failures == 0 ? "ok" : "FAILED",
              static_cast<unsigned long long>(sumOf(launched.kernels)));
  return failures == 0 ? 0 : kFailed;
}

}  // namespace
}  // namespace device_tests

int main(int argc, char** argv) {
  uint64_t launches = 100000;
  std::string output;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--launches") == 0) launches = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--output") == 0) output = argv[i + 1];
  }
  device_tests::skipWithoutDevice();
  try {
    return device_tests::run(launches, output);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "FAILED conservation: %s\n", error.what());
    return device_tests::kFailed;
  }
}
