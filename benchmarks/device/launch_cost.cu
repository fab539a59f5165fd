// What a launch costs while it is recorded, and after: ours beside bare CUPTI with the same kinds of records, whose buffers are dropped unread.
//
//     launch_cost [--rounds N]
//
// What a launch costs differs from process to process by as much as recording adds. So ours and bare CUPTI take turns in one process, many times over, each
// beside launches of which nothing is recorded; a process gives the median of its turns, and the processes are added up. What is left when ours has stopped is
// measured in processes where nothing else has recorded, on one core: the median of 5 × 10,000 launches before and after. That wanders by a tenth without us
// too, so each such process has one beside it in which nothing is recorded. Timed is the host in the launching call: the device is waited for in between,
// so that its queue never fills. Exit status 1: a bar was missed.
#include <unistd.h>
#include <xsigma/profiler/profiler.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bare_collection.h"
#include "cuda_checks.h"
#include "one_core.h"

extern "C" __global__ void tiny_kernel() {}

namespace launch_cost {
namespace {

using namespace xsigma::profiler;

constexpr int kSamples = 5;
constexpr int kLaunches = 10000;
constexpr int kBatch = 500;     // less than the device's queue holds
constexpr int kWarmUp = 20000;  // clocks and caches
constexpr int kSettle = 1000;   // after a change, not counted
constexpr int kTurns = 8;       // in a process
constexpr int kOfTurn = 3000;   // launches
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

enum class Scopes { around, each };

template <typename Measure>
double measureBare(Scopes scopes, const Measure& measure_launches) {
  BareCollection bare({.correlation = true, .usual = true});
  double cost = 0;
  if (scopes == Scopes::each) {
    cost = measure_launches(
        [&](int i) {
          bare.push(static_cast<uint64_t>(i) + 1);
          launchOne(i);
          bare.pop();
        },
        plainly);
  } else {
    cost = measure_launches(launchOne, [&](const std::function<void()>& batch) {
      bare.push(1);
      batch();
      bare.pop();
    });
  }
  bare.leave();
  return cost;
}

template <typename Measure>
double measureOurs(Scopes scopes, uint64_t launches, const Measure& measure_launches) {
  enableProfiler(ProfilerConfig(ProfilerState::KINETO), {ActivityType::CPU, ActivityType::CUDA});
  double cost = 0;
  if (scopes == Scopes::each) {
    cost = measure_launches(
        [](int i) {
          XSIGMA_PROFILE_SCOPE("launch");
          launchOne(i);
        },
        plainly);
  } else {
    cost = measure_launches(launchOne, [](const std::function<void()>& batch) {
      XSIGMA_PROFILE_SCOPE("batch");
      batch();
    });
  }
  const auto result = disableProfiler();
  const uint64_t kernels = result->ledger().device.kernels;  // the rest has been fetched
  CUDA_OK(cudaDeviceSynchronize());                          // where CUPTI leaves the process
  if (kernels != launches) {
    std::fprintf(stderr, "ours recorded %llu kernels of %llu\n", static_cast<unsigned long long>(kernels),
                 static_cast<unsigned long long>(launches));
    std::exit(device_tests::kBroken);
  }
  return cost;
}

// In one process: what bare CUPTI and ours add, turn by turn; which begins changes.
int measureTurns(Scopes scopes) {
  const auto of_turn = [](const auto& each, const auto& around) {
    launchBatches(kSettle, each, around);
    return launchBatches(kOfTurn, each, around);
  };
  std::vector<double> bare;
  std::vector<double> ours;
  for (int turn = 0; turn < 2 * kTurns; ++turn) {
    const double none = of_turn(launchOne, plainly);
    if (turn % 4 == 0 || turn % 4 == 3) {
      bare.push_back(measureBare(scopes, of_turn) - none);
    } else {
      ours.push_back(measureOurs(scopes, kSettle + kOfTurn, of_turn) - none);
    }
  }
  CUDA_OK(cudaGetLastError());
  std::printf("%.3f %.3f\n", medianOf(bare), medianOf(ours));
  return 0;
}

// In one process: before what lies between, and after it.
template <typename Between>
int measureAfter(const Between& between) {
  device_tests::stayOnThisCore();
  const double before = measure(launchOne, plainly);
  between([](const auto& each, const auto& around) { return measure(each, around); });
  const double after = measure(launchOne, plainly);
  std::printf("%.3f %.3f\n", before, after);
  return 0;
}

int measureHere(const std::string& what) {
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  launchBatches(kWarmUp, launchOne, plainly);
  if (what == "turns_around") return measureTurns(Scopes::around);
  if (what == "turns_each") return measureTurns(Scopes::each);
  if (what == "after_around") return measureAfter([](const auto& measured) { measureOurs(Scopes::around, kMeasured, measured); });
  if (what == "after_each") return measureAfter([](const auto& measured) { measureOurs(Scopes::each, kMeasured, measured); });
  if (what == "after_none") return measureAfter([](const auto& measured) { measured(launchOne, plainly); });
  std::fprintf(stderr, "what is %s?\n", what.c_str());
  return device_tests::kBroken;
}

using Pairs = std::vector<std::pair<double, double>>;

bool measureInProcess(const std::string& self, const char* what, Pairs& pairs) {
  const std::string command = "'" + self + "' --here " + what;
  FILE* const pipe = popen(command.c_str(), "r");
  double first = 0, second = 0;
  const bool read = pipe != nullptr && std::fscanf(pipe, "%lf %lf", &first, &second) == 2;
  const int status = pipe != nullptr ? pclose(pipe) : -1;
  if (!read || status != 0) {
    std::printf("FAILED: %s ended with status %d\n", command.c_str(), status);
    return false;
  }
  pairs.emplace_back(first, second);
  return true;
}

int printFigure(const char* what, double value, double bar) {
  const bool met = value >= 0 && value <= bar;  // below zero: noise is larger than what was measured
  std::printf("  %-64s %6.3f   bar %.2f%s\n", what, value, bar, met ? "" : "   MISSED");
  return met ? 0 : 1;
}

// Of what both add.
int printAdded(const char* what, const Pairs& pairs) {
  double bare = 0;
  double ours = 0;
  std::vector<double> ratios;
  for (const auto& [of_bare, of_ours] : pairs) {
    bare += of_bare;
    ours += of_ours;
    ratios.push_back(of_ours / of_bare);
  }
  std::sort(ratios.begin(), ratios.end());
  const auto count = static_cast<double>(pairs.size());
  std::printf("%s: bare CUPTI adds %.0f ns, ours %.0f ns; ratios of %zu processes %.2f .. %.2f, middle half %.2f .. %.2f\n", what,
              bare / count, ours / count, pairs.size(), ratios.front(), ratios.back(), ratios[ratios.size() / 4],
              ratios[ratios.size() * 3 / 4]);
  return printFigure("ours - none over bare - none, the same kinds", ours / bare, kCostBar);
}

double medianAfter(const char* what, const Pairs& pairs) {
  std::vector<double> ratios;
  double sum = 0;
  double squares = 0;
  for (const auto& [before, after] : pairs) {
    ratios.push_back(after / before);
    sum += ratios.back();
    squares += ratios.back() * ratios.back();
  }
  const auto count = static_cast<double>(ratios.size());
  const double mean = sum / count;
  std::printf("%s: after over before in %zu processes, median %.3f, mean %.3f ± %.3f\n", what, ratios.size(), medianOf(ratios), mean,
              std::sqrt(std::max(squares / count - mean * mean, 0.0) / count));
  return medianOf(ratios);
}

int measureAll(const std::string& self, int rounds) {
  Pairs turns_around, turns_each, after_none, after_ours;
  for (int round = 0; round < rounds; ++round) {
    const bool first = round % 2 == 0;
    const bool measured = measureInProcess(self, first ? "turns_around" : "turns_each", first ? turns_around : turns_each) &&
                          measureInProcess(self, "after_none", after_none) &&
                          measureInProcess(self, first ? "after_around" : "after_each", after_ours);
    if (!measured) return device_tests::kFailed;
  }
  const int missed = printAdded("one id or scope around 500 launches", turns_around) + printAdded("an id or scope per launch", turns_each) +
                     printFigure("after stop over before start", medianAfter("a session of ours", after_ours), kAfterBar);
  medianAfter("nothing recorded", after_none);
  std::printf("%s launch cost\n", missed == 0 ? "ok" : "FAILED");
  return missed == 0 ? 0 : device_tests::kFailed;
}

}  // namespace
}  // namespace launch_cost

int main(int argc, char** argv) {
  int rounds = 26;
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
