// What a launch costs while it is recorded, and after: ours beside bare CUPTI with the same kinds of records, whose buffers are dropped unread.
//
//     launch_cost [--rounds N]
//
// Each way is measured in a process of its own, before, while and after it records, so that none leaves anything switched on for another; the ways take
// turns, round after round. A figure is the median of 5 × 10,000 launches in a process, then of the rounds. Timed is the host in the launching call:
// the device is waited for in between, so that its queue never fills. Exit status 1: a bar was missed.
#include <unistd.h>
#include <xsigma/profiler/profiler.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bare_collection.h"
#include "cuda_checks.h"

extern "C" __global__ void tiny_kernel() {}

namespace launch_cost {
namespace {

using namespace xsigma::profiler;

constexpr int kSamples = 5;
constexpr int kLaunches = 10000;
constexpr int kBatch = 500;     // less than the device's queue holds
constexpr int kWarmUp = 20000;  // clocks and caches
constexpr int kSettle = 1000;   // after a change, not counted
constexpr double kCostBar = 1.1;
constexpr double kAfterBar = 1.03;

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double nowNs() { return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count()); }

cudaStream_t stream = nullptr;

// Nanoseconds per launch that the host is in it; each(i) makes one, and around() is called with what makes a batch.
template <typename Each>
double launchBatches(int launches, const Each& each, const std::function<void(const std::function<void()>&)>& around) {
  double inside = 0;
  for (int done = 0; done < launches; done += kBatch) {
    const double start = nowNs();
    around([&] {
      for (int i = 0; i < kBatch; ++i) each(done + i);
    });
    inside += nowNs() - start;
    CUDA_OK(cudaStreamSynchronize(stream));
  }
  return inside / launches;
}

void launchOne(int) { tiny_kernel<<<1, 32, 0, stream>>>(); }
void plainly(const std::function<void()>& batch) { batch(); }

template <typename Each>
double measure(const Each& each, const std::function<void(const std::function<void()>&)>& around) {
  launchBatches(kSettle, each, around);
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i) samples.push_back(launchBatches(kLaunches, each, around));
  CUDA_OK(cudaGetLastError());
  return medianOf(samples);
}
constexpr uint64_t kMeasured = kSettle + kSamples * kLaunches;

double measureBare(bool around_each, BareCollection::Also also) {
  BareCollection bare(also);
  double during = 0;
  if (around_each) {
    during = measure(
        [&](int i) {
          bare.push(static_cast<uint64_t>(i) + 1);
          launchOne(i);
          bare.pop();
        },
        plainly);
  } else if (also.correlation) {
    during = measure(launchOne, [&](const std::function<void()>& batch) {
      bare.push(1);
      batch();
      bare.pop();
    });
  } else {
    during = measure(launchOne, plainly);
  }
  bare.stop();
  if (bare.bytes() < kMeasured * 32) {
    std::fprintf(stderr, "bare CUPTI recorded %llu bytes, far too few\n", static_cast<unsigned long long>(bare.bytes()));
    std::exit(device_tests::kBroken);
  }
  return during;
}

double measureOurs(bool around_each) {
  enableProfiler(ProfilerConfig(ProfilerState::KINETO), {ActivityType::CPU, ActivityType::CUDA});
  double during = 0;
  if (around_each) {
    during = measure(
        [](int i) {
          XSIGMA_PROFILE_SCOPE("launch");
          launchOne(i);
        },
        plainly);
  } else {
    during = measure(launchOne, [](const std::function<void()>& batch) {
      XSIGMA_PROFILE_SCOPE("batch");
      batch();
    });
  }
  const auto result = disableProfiler();
  result->ledger();                  // the rest has been fetched
  CUDA_OK(cudaDeviceSynchronize());  // where CUPTI leaves the process
  uint64_t kernels = 0;
  for (const KinetoEvent& event : result->events()) {
    kernels += event.activityType() == static_cast<uint8_t>(libkineto::ActivityType::CONCURRENT_KERNEL) ? 1 : 0;
  }
  if (kernels != kMeasured) {
    std::fprintf(stderr, "ours recorded %llu kernels of %llu\n", static_cast<unsigned long long>(kernels),
                 static_cast<unsigned long long>(kMeasured));
    std::exit(device_tests::kBroken);
  }
  return during;
}

// One process: before, while and after.
int measureHere(const std::string& way) {
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  launchBatches(kWarmUp, launchOne, plainly);
  const double before = measure(launchOne, plainly);
  const std::map<std::string, std::function<double()>> ways = {
      {"none", [] { return measure(launchOne, plainly); }},
      {"bare", [] { return measureBare(false, {}); }},
      {"bare_around", [] { return measureBare(false, {.correlation = true, .usual = true}); }},
      {"bare_each", [] { return measureBare(true, {.correlation = true, .usual = true}); }},
      {"ours_around", [] { return measureOurs(false); }},
      {"ours_each", [] { return measureOurs(true); }},
  };
  const double during = ways.at(way)();
  const double after = measure(launchOne, plainly);
  std::printf("%.3f %.3f %.3f\n", before, during, after);
  return 0;
}

struct Way {
  const char* name;
  const char* what;
  std::vector<double> before, added, after_ratio;
};

bool measureInProcess(const std::string& self, Way& way) {
  const std::string command = "'" + self + "' --here " + way.name;
  FILE* const pipe = popen(command.c_str(), "r");
  double before = 0, during = 0, after = 0;
  const bool read = pipe != nullptr && std::fscanf(pipe, "%lf %lf %lf", &before, &during, &after) == 3;
  const int status = pipe != nullptr ? pclose(pipe) : -1;
  if (!read || status != 0) {
    std::printf("FAILED: %s ended with status %d\n", command.c_str(), status);
    return false;
  }
  way.before.push_back(before);
  way.added.push_back(during - before);
  way.after_ratio.push_back(after / before);
  return true;
}

int printFigure(const char* what, double value, double bar) {
  const bool met = value >= 0 && value <= bar;  // below zero: noise is larger than what was measured
  std::printf("  %-72s %6.3f   bar %.2f%s\n", what, value, bar, met ? "" : "   MISSED");
  return met ? 0 : 1;
}

int measureAll(const std::string& self, int rounds) {
  std::vector<Way> ways = {{"none", "nothing recorded", {}, {}, {}},
                           {"bare", "bare CUPTI: kernel, runtime", {}, {}, {}},
                           {"bare_around", "bare CUPTI: the kinds that ours records, one correlation id around", {}, {}, {}},
                           {"bare_each", "bare CUPTI: the kinds that ours records, a correlation id per launch", {}, {}, {}},
                           {"ours_around", "ours: {CPU, CUDA}, a scope around", {}, {}, {}},
                           {"ours_each", "ours: {CPU, CUDA}, a scope per launch", {}, {}, {}}};
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < ways.size(); ++i) {
      if (!measureInProcess(self, ways[(i + static_cast<size_t>(round)) % ways.size()])) return device_tests::kFailed;
    }
  }
  std::map<std::string, double> added;
  std::printf("%-66s %10s %10s %18s %12s\n", "per launch, host", "before/ns", "added/ns", "(over rounds)", "after/before");
  for (const Way& way : ways) {
    added[way.name] = medianOf(way.added);
    const auto [least, most] = std::minmax_element(way.added.begin(), way.added.end());
    std::printf("%-66s %10.0f %10.0f %8.0f .. %6.0f %12.3f\n", way.what, medianOf(way.before), added[way.name], *least, *most,
                medianOf(way.after_ratio));
  }
  int missed = printFigure("ours - none over bare - none, one id or scope around", added["ours_around"] / added["bare_around"], kCostBar);
  missed += printFigure("ours - none over bare - none, an id or scope per launch", added["ours_each"] / added["bare_each"], kCostBar);
  missed += printFigure("after stop over before start, a scope around", medianOf(ways[4].after_ratio), kAfterBar);
  missed += printFigure("after stop over before start, a scope per launch", medianOf(ways[5].after_ratio), kAfterBar);
  std::printf("  %-72s %6.3f\n", "for comparison: ours, a scope around, over bare with kernel and runtime alone",
              added["ours_around"] / added["bare"]);
  std::printf("%s launch cost\n", missed == 0 ? "ok" : "FAILED");
  return missed == 0 ? 0 : device_tests::kFailed;
}

}  // namespace
}  // namespace launch_cost

int main(int argc, char** argv) {
  int rounds = 7;
  std::string here;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::max(1, std::atoi(argv[i + 1]));
    if (std::strcmp(argv[i], "--here") == 0) here = argv[i + 1];
  }
  device_tests::skipWithoutDevice();
  try {
    if (!here.empty()) return launch_cost::measureHere(here);
    char self[4096] = {};
    if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0) return device_tests::kBroken;
    return launch_cost::measureAll(self, rounds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "FAILED launch cost: %s\n", error.what());
    return device_tests::kFailed;
  }
}
