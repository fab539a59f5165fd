// What it takes to turn a capture into a trace file, beside the same bytes formatted from plain arrays. Usage: export [--folder PATH] [Google
// Benchmark's options]. The folder should be in memory (default /dev/shm): neither side is to wait for a disk. Exit code 1 if a figure misses its bar.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xsigma/profiler/profiler.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "../ratio_table.h"
#include "floor.h"

namespace export_benchmark {
namespace {

using namespace xsigma::profiler;
using namespace figures;

constexpr size_t kScopes = 1'000'000;
constexpr int kRepetitions = 7;

void record(size_t count, bool with_shapes) {
  const int64_t left[] = {64, 32};
  const int64_t right[] = {32, 16};
  const TensorInfo a{nullptr, left, nullptr, 2, "float", {}};
  const TensorInfo b{nullptr, right, nullptr, 2, "float", {}};
  for (size_t i = 0; i < count; ++i) {
    if (with_shapes) {
      XSIGMA_RECORD_FUNCTION("aten::mm", std::vector<InputValue>({a, b}), static_cast<int64_t>(i));
    } else {
      XSIGMA_PROFILE_SCOPE("benchmark scope");
    }
  }
}

std::string captureFile(const std::string& folder, bool with_shapes) {
  const std::string path = folder + (with_shapes ? "/shapes.xst" : "/names.xst");
  unlink(path.c_str());
  CaptureOptions options;
  options.path = path;
  Recording recording = *startRecording(options);
  record(kScopes, with_shapes);
  const Ledger ledger = recording.stop().ledger();
  if (ledger.recorded != kScopes)
    std::fprintf(stderr, "only %llu scopes were recorded\n", static_cast<unsigned long long>(ledger.recorded));
  return path;
}

void exportOnce(const std::string& capture_path, const std::string& to, unsigned workers) {
  const Expected<Capture> capture = openCapture(capture_path);  // anew: nothing is known of it yet
  ExportOptions options;
  options.workers = workers;
  const Expected<ExportReport> report = exportCapture(*capture, to, options);
  if (!report || report->events != kScopes) {
    std::fprintf(stderr, "the export failed: %s\n", report.message().c_str());
    std::exit(2);
  }
}

void add(const std::string& name, std::function<void()> body) { addTimed(name, kScopes, kRepetitions, std::move(body)); }  // per event

// Bytes per event by which a process grows that opens a capture and exports it.
double peakBytes(const std::string& capture_path, const std::string& to) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    const auto resident = [](const char* what) {
      std::ifstream status("/proc/self/status");
      std::string word;
      double kib = 0;
      while (status >> word) {
        if (word == what) status >> kib;
      }
      return kib;
    };
    std::ofstream("/proc/self/clear_refs") << 5;  // the high-water mark begins anew
    const double before = resident("VmRSS:");
    exportOnce(capture_path, to, 2);
    const double bytes = (resident("VmHWM:") - before) * 1024 / kScopes;
    const bool wrote = write(ends[1], &bytes, sizeof bytes) == sizeof bytes;
    _exit(wrote ? 0 : 1);
  }
  double bytes = 0;
  const bool have = read(ends[0], &bytes, sizeof bytes) == sizeof bytes;
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return have ? bytes : 1e9;
}

int runAll(int argc, char** argv) {
  std::string folder = "/dev/shm";
  std::vector<char*> arguments{argv[0]};
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--folder") == 0 && i + 1 < argc) {
      folder = argv[++i];
    } else {
      arguments.push_back(argv[i]);
    }
  }
  folder += "/xsigma_export_" + std::to_string(getpid());
  char interleave[] = "--benchmark_enable_random_interleaving=true";
  arguments.push_back(interleave);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  if (std::system(("mkdir -p " + folder).c_str()) != 0) return 2;

  std::vector<Figure> figures;
  Minima minima;
  for (const bool with_shapes : {false, true}) {
    const std::string kind = with_shapes ? "shapes" : "names";
    const std::string capture = captureFile(folder, with_shapes);
    const std::string json = folder + "/" + kind + ".json";
    const std::string what = with_shapes ? "shapes and sequence numbers" : "names only";
    exportOnce(capture, json, 1);
    add("floor-" + kind, [events = plainEvents(kScopes, with_shapes), to = json + ".floor"] { writePlain(events, to); });
    add(kind + "/1", [=] { exportOnce(capture, json, 1); });
    add(kind + "/2", [=] { exportOnce(capture, json, 2); });
    add("gzip-" + kind, [=] {
      if (std::system(("gzip -1 -c " + json + ".floor > " + json + ".floor.gz").c_str()) != 0) std::exit(2);
    });
    add("gz-" + kind, [=] { exportOnce(capture, json + ".gz", 0); });
    figures.push_back({"capture to .json, " + what + ", 1 thread", kind + "/1", "floor-" + kind, Bar::ratio, 2.5});
    figures.push_back({"the same, 2 threads, against 1", kind + "/2", kind + "/1", Bar::ratio, 1});
    figures.push_back({"capture to .json.gz, against gzip -1 of those bytes", "gz-" + kind, "gzip-" + kind, Bar::ratio, 1});
    figures.push_back({"peak memory of assembly and export, per event", "peak-" + kind, "", Bar::at_most, 100, "B"});
    writePlain(plainEvents(kScopes, with_shapes), json + ".floor");
    minima.set("peak-" + kind, peakBytes(capture, json));
  }
  benchmark::RunSpecifiedBenchmarks(&minima);
  const int missed = printTable(minima, figures);
  if (std::system(("rm -rf " + folder).c_str()) != 0) return 2;
  return missed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace export_benchmark

int main(int argc, char** argv) { return export_benchmark::runAll(argc, argv); }
