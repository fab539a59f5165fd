// A program that profiles itself: two threads, nested scopes, a counter. Usage: quickstart [NAME], which writes NAME.xst and NAME.json
#include <xsigma/profiler/profiler.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace xsigma::profiler;

namespace {

using Matrix = std::vector<double>;
constexpr size_t kSize = 96;

void multiply(const Matrix& a, const Matrix& b, Matrix& c) {
  XSIGMA_PROFILE_FUNCTION();
  for (size_t i = 0; i < kSize; ++i) {
    for (size_t j = 0; j < kSize; ++j) {
      double sum = 0;
      for (size_t k = 0; k < kSize; ++k) sum += a[i * kSize + k] * b[k * kSize + j];
      c[i * kSize + j] = sum;
    }
  }
}

void worker(int number) {
  setThreadName("worker " + std::to_string(number));
  Matrix a(kSize * kSize, 1.0), b(kSize * kSize, 0.5), c(kSize * kSize);
  for (int step = 0; step < 50; ++step) {
    XSIGMA_PROFILE_SCOPE("step");
    multiply(a, b, c);
    XSIGMA_PROFILE_SCOPE_DYNAMIC(step % 10 == 0 ? "checkpoint" : "update");
    recordCounter("norm", c[0]);
    std::swap(a, c);
  }
}

// Total time by name.
void printTimes(const ProfilerResult& result) {
  struct Total {
    long count = 0;
    double milliseconds = 0;
  };
  std::map<std::string, Total> totals;
  for (const KinetoEvent& event : result.events()) {
    if (event.durationNs() == 0) continue;  // counters and other points in time
    Total& total = totals[event.name()];
    ++total.count;
    total.milliseconds += static_cast<double>(event.durationNs()) * 1e-6;
  }
  std::printf("%-12s %8s %12s\n", "scope", "calls", "total ms");
  for (const auto& [name, total] : totals) std::printf("%-12s %8ld %12.3f\n", name.c_str(), total.count, total.milliseconds);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "quickstart";
  ProfilerConfig config(ProfilerState::KINETO);
  config.experimental_config.profile_all_threads = true;
  config.experimental_config.capture.path = name + ".xst";  // survives a crash; leave it out to record in memory
  try {
    enableProfiler(config, {ActivityType::CPU});
    std::thread first(worker, 1), second(worker, 2);
    first.join();
    second.join();
    const auto result = disableProfiler();
    result->save(name + ".json");
    printTimes(*result);
  } catch (const ProfilerError& error) {
    std::fprintf(stderr, "not profiled: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
