// Exporting takes a fixed amount of memory, whatever the capture holds: it streams.
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "capture_reading.h"
#include "child_process.h"
#include "xsigma/profiler/exporter.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;

void recordScopes(const std::string& path, int count) {
  Recording recording = record({.policy = CapturePolicy::unbounded, .path = path});
  for (int i = 0; i < count; i += 2) {
    XSIGMA_PROFILE_SCOPE("outer");
    XSIGMA_PROFILE_SCOPE("inner");
  }
  recording.stop();
}

size_t statusKibibytes(const char* key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != key) continue;
    size_t value = 0;
    status >> value;
    return value;
  }
  return 0;
}

struct Growth {
  size_t bytes = 0;
  uint64_t events = 0;
};

// By how much a fresh process grew at most. Files are read and written, not mapped: what counts is memory of our own.
Growth exportGrowth(const std::string& from, const std::string& to) {
  const Shared<Growth> growth;
  const int status = runInChild(
      [&] {
        std::ofstream("/proc/self/clear_refs") << "5";  // the peak counts from here
        const size_t before = statusKibibytes("RssAnon:") * 1024;
        const size_t before_all = statusKibibytes("VmRSS:") * 1024;
        const Expected<Capture> capture = openCapture(from);
        if (!capture) return 1;
        const Expected<ExportReport> report = exportCapture(*capture, to, {.workers = 2});
        if (!report) return 2;
        growth->events = report->events;
        const size_t peak = statusKibibytes("VmHWM:") * 1024;
        growth->bytes = peak - std::min(before_all, peak);
        return before == 0 ? 3 : 0;
      },
      100);
  EXPECT_EQ(status, 0);
  return *growth;
}

TEST(ExportMemory, DoesNotGrowWithTheNumberOfScopes) {
  const TemporaryFile small("small.xst");
  const TemporaryFile large("large.xst");
  recordScopes(small.path, 1'000'000);
  recordScopes(large.path, 4'000'000);
  for (const char* const ending : {".json", ".json.gz"}) {
    const TemporaryFile out(std::string("out") + ending);
    const Growth of_small = exportGrowth(small.path, out.path);
    const Growth of_large = exportGrowth(large.path, out.path);
    std::printf("%s: %zu KiB for %llu events, %zu KiB for %llu\n", ending, of_small.bytes / 1024,
                static_cast<unsigned long long>(of_small.events), of_large.bytes / 1024, static_cast<unsigned long long>(of_large.events));
    EXPECT_EQ(of_small.events, 1'000'000u);
    EXPECT_EQ(of_large.events, 4'000'000u);
    EXPECT_GT(of_large.bytes, 100'000u) << "the measure does not measure";
    EXPECT_LT(of_large.bytes, 64 * kMebibyte);
    EXPECT_LT(of_large.bytes, of_small.bytes + 16 * kMebibyte) << "three million more scopes";
  }
}

}  // namespace
}  // namespace xsigma::profiler::test
