// A program that records itself: two threads, nested scopes, a counter. Usage: quickstart [FILE.xst]
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

// Total time by name: the capture's records, read back.
void printTimes(const Capture& capture) {
  struct Total {
    long count = 0;
    double milliseconds = 0;
  };
  std::map<std::string, Total> totals;
  capture.forEachRecord([&](const CaptureRecord& record) {
    if (record.kind != RecordKind::scope_end) return;
    Total& total = totals[std::string(record.name)];
    ++total.count;
    total.milliseconds += static_cast<double>(capture.toMonotonicNs(record.ticks) - capture.toMonotonicNs(record.begin_ticks)) * 1e-6;
  });
  std::printf("%-12s %8s %12s\n", "scope", "calls", "total ms");
  for (const auto& [name, total] : totals) std::printf("%-12s %8ld %12.3f\n", name.c_str(), total.count, total.milliseconds);
}

}  // namespace

int main(int argc, char** argv) {
  CaptureOptions options;
  if (argc > 1) options.path = argv[1];
  Expected<Recording> recording = startRecording(options);
  if (!recording) {
    std::fprintf(stderr, "not recorded: %s\n", recording.message().c_str());
    return EXIT_FAILURE;
  }
  std::thread first(worker, 1), second(worker, 2);
  first.join();
  second.join();
  printTimes(recording->stop());
}
