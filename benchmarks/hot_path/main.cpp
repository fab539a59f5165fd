// What a scope costs, as ratios to the floor of the same run. Usage: hot_path [--file PATH] [Google Benchmark's options]
// Exit code 1 if a figure misses its bar.
#include <benchmark/benchmark.h>
#include <unistd.h>
#include <xsigma/profiler/profiler.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../ratio_table.h"
#include "figures.h"
#include "floor.h"
#include "scopes.h"

namespace hot_path {
namespace {

using namespace xsigma::profiler;
using namespace figures;
using Loop = void (*)(size_t);

// Short and many, so that floor and subject both meet the machine's quiet moments.
constexpr int kRepetitions = 200;
constexpr size_t kWarmScopes = 10'000;
constexpr size_t kOffScopes = 400'000;
constexpr int kGrowingRepetitions = 60;
constexpr size_t kGrowingScopes = 500'000;

constexpr size_t kRingBytes = 1 << 20;
constexpr size_t kOnceRound = kRingBytes / 16;  // scopes; more than the ring holds

// What is switched on around a loop.
struct Setting {
  int recordings = 0;
  CaptureOptions options;
  bool callback = false;
};

std::unique_ptr<ObserverContext> emptyStart(const RecordFunction&) { return nullptr; }
void emptyEnd(const RecordFunction&, ObserverContext*) {}

void run(benchmark::State& state, const Setting& setting, Loop loop, int threads, size_t count) {
  std::vector<Recording> recordings;
  for (int i = 0; i < setting.recordings; ++i) recordings.push_back(*startRecording(setting.options));
  const CallbackHandle callback =
      setting.callback ? addGlobalCallback(RecordFunctionCallback(emptyStart, emptyEnd)) : INVALID_CALLBACK_HANDLE;
  const bool growing = count == kGrowingScopes;
  for (auto _ : state) state.SetIterationTime(timePerPass(threads, growing ? 100 : kOnceRound, count, loop) * 1e-9);
  if (setting.callback) removeCallback(callback);
  for (Recording& recording : recordings) {
    recording.stop();
  }
  if (!setting.options.path.empty()) unlink(setting.options.path.c_str());
}

void add(const std::string& name, const Setting& setting, Loop loop, int threads = 1, size_t count = kWarmScopes) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { run(state, setting, loop, threads, count); })
      ->UseManualTime()
      ->Iterations(1)
      ->Repetitions(count == kGrowingScopes ? kGrowingRepetitions : kRepetitions)
      ->Unit(benchmark::kNanosecond);
}

Setting recordingInRing(int recordings) {
  Setting setting;
  setting.recordings = recordings;
  setting.options.policy = CapturePolicy::ring;
  setting.options.byte_cap = kRingBytes;  // goes round before it is timed: its chunks are warm
  return setting;
}

std::vector<Figure> registerAll(const std::string& file) {
  const Setting off;
  const Setting on = recordingInRing(1);
  Setting callback = on;
  callback.callback = true;
  Setting ordered = on;
  ordered.options.ordered_end = true;
  Setting growing;
  growing.recordings = 1;
  Setting growing_in_file = growing;
  growing_in_file.options.path = file;

  add("floor-on/1", off, floorOn);
  add("floor-on/2", off, floorOn, 2);
  add("floor-body", off, floorOnAroundBody);
  add("floor-adds", off, floorOnAroundEightyAdds);
  add("adds", off, eightyAdds);
  add("floor-off", off, floorOff, 1, kOffScopes);
  add("on/1", on, staticScope);
  add("on/2", on, staticScope, 2);
  add("on-body", on, staticScopeAroundBody);
  add("same-pointer", on, dynamicSamePointer);
  add("by-content", on, dynamicByContent);
  add("many-names", on, dynamicManyNames);
  add("callback", callback, staticScope);
  add("shapes", on, recordFunctionWithShapes);
  add("two-sessions", recordingInRing(2), staticScope);
  add("ordered", ordered, staticScope);
  add("off", off, staticScope, 1, kOffScopes);
  for (const int threads : {1, 2}) {
    const std::string suffix = "/" + std::to_string(threads);
    add("grow-memory" + suffix, growing, staticScope, threads, kGrowingScopes);
    add("grow-file" + suffix, growing_in_file, staticScope, threads, kGrowingScopes);
  }
  return {
      {"scope, on, static name, chunks warm, 1 thread", "on/1", "floor-on/1", Bar::ratio, 1.1},
      {"the same, 2 threads", "on/2", "floor-on/2", Bar::ratio, 1.1},
      {"the same around a body of about 33 ns", "on-body", "floor-body", Bar::difference_ns, 6},
      {"growing, memory, 1 thread", "grow-memory/1", "floor-on/1", Bar::ratio, 1.25},
      {"growing, memory, 2 threads", "grow-memory/2", "floor-on/2", Bar::ratio, 1.25},
      {"growing, file, 1 thread", "grow-file/1", "floor-on/1", Bar::ratio, 1.4},
      {"growing, file, 2 threads", "grow-file/2", "floor-on/2", Bar::ratio, 1.4},
      {"dynamic name, same pointer", "same-pointer", "floor-on/1", Bar::ratio, 1.2},
      {"dynamic name, by content", "by-content", "floor-on/1", Bar::ratio, 1.5},
      {"dynamic name, 64 names in turn, beyond the floor", "many-names", "floor-on/1", Bar::none_ns, 0},
      {"capture on and one empty user callback", "callback", "floor-on/1", Bar::ratio, 1.3},
      {"XSIGMA_RECORD_FUNCTION, sequence number, two shapes", "shapes", "floor-on/1", Bar::ratio, 4},
      {"two sessions at once", "two-sessions", "floor-on/1", Bar::ratio, 2},
      {"ordered end stamp", "ordered", "floor-on/1", Bar::ratio, 1.9},
      {"scope, compiled in, off", "off", "floor-off", Bar::difference_ns, 0.5},
      {"80 additions alone", "adds", "", Bar::none_ns, 0},
      {"80 additions between the two reads of the floor", "floor-adds", "floor-on/1", Bar::none_ns, 0},
      {"capture bytes per plain scope", "bytes", "", Bar::at_most, 24, "B"},
      {"stop with 10 million scopes, memory", "stop-memory", "", Bar::at_most, 0.5, "ms"},
      {"stop with 10 million scopes, file", "stop-file", "", Bar::at_most, 5, "ms"},
      {"resident growth beyond a cap of 64 MiB, 10 x the data", "resident", "", Bar::at_most, 8, "MiB"},
  };
}

int runAll(int argc, char** argv) {
  std::string file = "hot_path_benchmark.xst";
  std::vector<char*> arguments{argv[0]};
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--file") == 0 && i + 1 < argc) {
      file = argv[++i];
    } else {
      arguments.push_back(argv[i]);
    }
  }
  char interleave[] = "--benchmark_enable_random_interleaving=true";
  arguments.push_back(interleave);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  tuneBody();
  const std::vector<Figure> figures = registerAll(file);
  Minima minima;
  benchmark::RunSpecifiedBenchmarks(&minima);
  minima.set("bytes", bytesPerScope());
  minima.set("stop-memory", stopMilliseconds(""));
  minima.set("stop-file", stopMilliseconds(file));
  minima.set("resident", residentOverCap());
  return printTable(minima, figures) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hot_path

int main(int argc, char** argv) { return hot_path::runAll(argc, argv); }
