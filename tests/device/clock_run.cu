// The device's clock and the host's agree for minutes: a launch every millisecond, a thousand at once every few seconds, and pairs of clock readings
// that the profiler knows nothing of.
//
//     clock_run [--seconds N] [--file FILE.xst]
#include <xsigma/profiler/profiler.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda_checks.h"
#include "held_out_pairs.h"
#include "result_reading.h"

extern "C" __global__ void clock_kernel(unsigned* counter) { atomicAdd(counter, 1u); }

namespace device_tests {
namespace {

using namespace xsigma::profiler;
using namespace std::chrono_literals;

constexpr auto kLaunchInterval = 1ms;
constexpr auto kBurstInterval = 5s;
constexpr int kBurst = 1000;
constexpr size_t kLaunchesPerWait = 100;
constexpr auto kPairInterval = 10ms;
constexpr double kPairLimitNs = 2000;

// What the program itself read from the counter.
struct OwnReadings {
  std::vector<uint64_t> before_launch;  // by launch: they run in this order, for they share a stream
  struct Wait {
    size_t launches;  // that had been made when it began
    uint64_t returned;
  };
  std::vector<Wait> waits;
};

class Launcher {
 public:
  Launcher() {
    CUDA_OK(cudaMalloc(&counter_, sizeof(unsigned)));
    CUDA_OK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    clock_kernel<<<1, 32, 0, stream_>>>(counter_);  // loads it, before anyone watches
    CUDA_OK(cudaDeviceSynchronize());
  }

  void run(std::chrono::seconds duration) {
    own_.before_launch.reserve(static_cast<size_t>(duration / kLaunchInterval + kBurst * (duration / kBurstInterval + 1)));
    const auto start = std::chrono::steady_clock::now();
    auto next = start;
    auto next_burst = start + kBurstInterval;
    while (next < start + duration) {
      if (next >= next_burst) {
        for (int i = 0; i < kBurst; ++i) launch();
        wait();
        next_burst += kBurstInterval;
      }
      launch();
      if (own_.before_launch.size() % kLaunchesPerWait == 0) wait();
      next += kLaunchInterval;
      std::this_thread::sleep_until(next);
    }
    wait();
  }

  const OwnReadings& own() const { return own_; }

 private:
  void launch() {
    XSIGMA_PROFILE_SCOPE("launch");
    own_.before_launch.push_back(readCounter());
    clock_kernel<<<1, 32, 0, stream_>>>(counter_);
    CUDA_OK(cudaGetLastError());
  }
  void wait() {
    const size_t launches = own_.before_launch.size();
    CUDA_OK(cudaStreamSynchronize(stream_));
    own_.waits.push_back({launches, readCounter()});
  }

  unsigned* counter_ = nullptr;
  cudaStream_t stream_ = nullptr;
  OwnReadings own_;
};

double percentile(const std::vector<int64_t>& sorted, double share) {
  if (sorted.empty()) return 0;
  return static_cast<double>(sorted[std::min(sorted.size() - 1, static_cast<size_t>(share * static_cast<double>(sorted.size())))]);
}

void printRow(const char* what, double value, const char* unit, const char* bar = "") {
  std::printf("  %-64s %14.1f %-3s %s\n", what, value, unit, bar);
}

// How far the held-out pairs lie from the capture's own clock.
int checkPairs(const Capture& capture, const std::vector<HeldOutPair>& pairs) {
  std::vector<int64_t> distances, widths;
  const CaptureInfo& info = capture.info();
  for (const HeldOutPair& pair : pairs) {
    if (pair.monotonic_ns < info.start_monotonic_ns || (info.stop_monotonic_ns != 0 && pair.monotonic_ns > info.stop_monotonic_ns))
      continue;
    const uint64_t ticks = info.counter_is_clock ? static_cast<uint64_t>(pair.monotonic_ns) : pair.ticks;
    distances.push_back(std::abs(capture.toMonotonicNs(ticks) - pair.monotonic_ns));
    widths.push_back(pair.width_ns);
  }
  std::sort(distances.begin(), distances.end());
  std::sort(widths.begin(), widths.end());
  std::printf("the host's clock: %zu held-out pairs%s\n", distances.size(),
              info.counter_is_clock ? " (no invariant counter here: ticks are the clock's)" : "");
  printRow("distance from the fit, p50", percentile(distances, 0.5), "ns");
  printRow("distance from the fit, p99", percentile(distances, 0.99), "ns", "bar 2000");
  printRow("distance from the fit, max", percentile(distances, 1), "ns");
  printRow("width of a pair, p50", percentile(widths, 0.5), "ns");
  if (distances.size() < pairs.size() / 2 || percentile(distances, 0.99) > kPairLimitNs) return 1;
  return 0;
}

// Kernels against the calls that the trace shows for them.
int checkCalls(const std::vector<KinetoEvent>& events) {
  std::unordered_map<uint64_t, const KinetoEvent*> calls;
  for (const KinetoEvent& event : events) {
    if (isCall(event)) calls.emplace(correlationOf(event), &event);  // the outer call comes first
  }
  std::vector<int64_t> delays;
  uint64_t without_call = 0, early = 0;
  for (const KinetoEvent& event : events) {
    if (!isKernel(event)) continue;
    const auto call = calls.find(correlationOf(event));
    if (call == calls.end()) {
      ++without_call;
      continue;
    }
    delays.push_back(event.startNs() - call->second->startNs());
    if (delays.back() < 0) ++early;
  }
  std::sort(delays.begin(), delays.end());
  std::printf("device events against their calls: %zu\n", delays.size());
  printRow("start before their launch", static_cast<double>(early), "", "bar 0");
  printRow("have no call", static_cast<double>(without_call), "", "bar 0");
  printRow("from the call's begin to the kernel's, min", percentile(delays, 0), "ns");
  printRow("from the call's begin to the kernel's, p50", percentile(delays, 0.5), "ns");
  printRow("from the call's begin to the kernel's, p99", percentile(delays, 0.99), "ns");
  return delays.empty() || early != 0 || without_call != 0 ? 1 : 0;
}

// Kernels against what the program read itself, just before each launch and just after each wait.
int checkOwnReadings(const ProfilerResult& result, const OwnReadings& own) {
  const Capture& capture = result.capture();
  const int64_t to_monotonic = capture.info().start_monotonic_ns - capture.info().start_unix_ns;
  std::vector<const KinetoEvent*> kernels;
  for (const KinetoEvent& event : result.events()) {
    if (isKernel(event)) kernels.push_back(&event);
  }
  std::printf("device events against the program's own readings: %zu kernels, %zu launches, %zu waits\n", kernels.size(),
              own.before_launch.size(), own.waits.size());
  if (kernels.size() != own.before_launch.size()) {
    std::printf("FAILED: as many kernels as launches were expected\n");
    return 1;
  }
  if (capture.info().counter_is_clock) {
    std::printf("  left out: the capture does not count in the counter's ticks\n");
    return 0;
  }
  uint64_t early = 0, late = 0;
  int64_t least_delay = INT64_MAX, most_late = INT64_MIN;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const int64_t delay = kernels[i]->startNs() + to_monotonic - capture.toMonotonicNs(own.before_launch[i]);
    least_delay = std::min(least_delay, delay);
    early += delay < 0 ? 1 : 0;
  }
  size_t first = 0;
  for (const OwnReadings::Wait& wait : own.waits) {
    const int64_t returned = capture.toMonotonicNs(wait.returned);
    for (; first < wait.launches; ++first) {
      const int64_t over = kernels[first]->endNs() + to_monotonic - returned;
      most_late = std::max(most_late, over);
      late += over > 0 ? 1 : 0;
    }
  }
  printRow("start before the program launched them", static_cast<double>(early), "", "bar 0");
  printRow("end after the call that waited for them had returned", static_cast<double>(late), "", "bar 0");
  printRow("least time from the program's reading to the kernel's begin", static_cast<double>(least_delay), "ns");
  printRow("least time from the kernel's end to the wait's return", static_cast<double>(-most_late), "ns");
  return early != 0 || late != 0 ? 1 : 0;
}

int run(std::chrono::seconds duration, const std::string& file) {
  Launcher launcher;
  ProfilerConfig config(ProfilerState::KINETO);
  config.experimental_config.capture.path = file;
  config.experimental_config.expose_kineto_event_metadata = true;
  enableProfiler(config, {ActivityType::CPU, ActivityType::CUDA});
  PairTaker pairs(kPairInterval);
  launcher.run(duration);
  const std::vector<HeldOutPair>& taken = pairs.stop();
  const auto result = disableProfiler();
  printDevices(*result);
  int failures = checkPairs(result->capture(), taken);
  failures += checkCalls(result->events());
  failures += checkOwnReadings(*result, launcher.own());
  const Ledger ledger = result->ledger();
  printRow("dropped by the ledger", static_cast<double>(ledger.dropped + ledger.extras_dropped), "", "bar 0");
  failures += ledger.whole() ? 0 : 1;
  std::printf("%s clock: %lld s, %zu launches\n", failures == 0 ? "ok" : "FAILED", static_cast<long long>(duration.count()),
              launcher.own().before_launch.size());
  return failures == 0 ? 0 : kFailed;
}

}  // namespace
}  // namespace device_tests

int main(int argc, char** argv) {
  int seconds = 240;
  std::string file = "clock_run.xst";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seconds") == 0) seconds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--file") == 0) file = argv[i + 1];
  }
  device_tests::skipWithoutDevice();
  try {
    return device_tests::run(std::chrono::seconds(seconds), file);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "FAILED clock: %s\n", error.what());
    return device_tests::kFailed;
  }
}
