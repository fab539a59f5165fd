#include "figures.h"

#include <unistd.h>
#include <xsigma/profiler/profiler.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "scopes.h"

namespace hot_path {

using namespace xsigma::profiler;

namespace {

constexpr double kMiB = 1 << 20;

double residentMiB() {
  std::ifstream statm("/proc/self/statm");
  double all = 0;
  double resident = 0;
  statm >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / kMiB;
}

}  // namespace

double bytesPerScope() {
  constexpr size_t kScopes = 5'000'000;
  Recording recording = *startRecording();
  staticScope(kScopes);
  const Capture capture = recording.stop();
  return static_cast<double>(capture.info().bytes_used) / kScopes;
}

double stopMilliseconds(const std::string& path) {
  constexpr size_t kScopes = 10'000'000;
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    CaptureOptions options;
    options.path = path;
    Recording recording = *startRecording(options);
    staticScope(kScopes);
    const auto begin = std::chrono::steady_clock::now();
    const Capture capture = recording.stop();
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    if (!path.empty()) unlink(path.c_str());
  }
  return best;
}

double residentOverCap() {
  constexpr size_t kCap = 64 << 20;
  constexpr size_t kBytesPerScope = 20;
  double most = 0;
  for (const CapturePolicy policy : {CapturePolicy::ring, CapturePolicy::stop_when_full}) {
    const double before = residentMiB();
    CaptureOptions options;
    options.policy = policy;
    options.byte_cap = kCap;
    Recording recording = *startRecording(options);
    staticScope(10 * kCap / kBytesPerScope);
    const double after = residentMiB();
    recording.stop();
    most = std::max(most, after - before - kCap / kMiB);
  }
  return most;
}

}  // namespace hot_path
