// What it takes to put 10 million events together by name, beside a plain hash-map pass over the same array that only counts calls and adds up times.
// Usage: key_averages [--events N] [Google Benchmark's options]. Exit code 1 if a figure misses its bar.
#include <benchmark/benchmark.h>
#include <xsigma/profiler/profiler.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "../ratio_table.h"
#include "analysis/key_averages.h"
#include "assemble/event_table.h"

namespace key_averages_benchmark {
namespace {

using namespace xsigma::profiler;
using namespace figures;
using assemble::EventTable;

constexpr int kThreads = 4;
constexpr int kRepetitions = 5;
size_t events = 10'000'000;

void leaf(int i) {
  XSIGMA_PROFILE_SCOPE_DYNAMIC("leaf " + std::to_string(i % 16));
  benchmark::DoNotOptimize(i);
}
void branch(int i) {
  XSIGMA_PROFILE_FUNCTION();
  for (int k = 0; k < 3; ++k) leaf(i + k);
  XSIGMA_PROFILE_SCOPE("tail");
}
void tree(size_t count) {
  XSIGMA_PROFILE_SCOPE("tree");
  for (size_t i = 0; i < count; ++i) branch(static_cast<int>(i));
}

// Four threads, four deep, 20 names.
Capture record() {
  CaptureOptions options;
  options.policy = CapturePolicy::unbounded;
  Recording recording = *startRecording(options);
  constexpr size_t kScopesOfBranch = 5;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(tree, events / kThreads / kScopesOfBranch);
  for (std::thread& thread : threads) thread.join();
  return recording.stop();
}

struct Sum {
  uint64_t calls = 0;
  int64_t total_ns = 0;
};

template <typename Key, typename KeyOf>
uint64_t plainPass(const EventTable& table, KeyOf key_of) {
  std::unordered_map<Key, Sum> sums;
  for (const EventTable::Entry& entry : table.entries) {
    Sum& sum = sums[key_of(entry)];
    ++sum.calls;
    sum.total_ns += entry.event.duration_ns;
  }
  return sums.size();
}

int runAll(int argc, char** argv) {
  std::vector<char*> arguments{argv[0]};
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--events") == 0 && i + 1 < argc) {
      events = std::strtoull(argv[++i], nullptr, 10);
    } else {
      arguments.push_back(argv[i]);
    }
  }
  char interleave[] = "--benchmark_enable_random_interleaving=true";
  arguments.push_back(interleave);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  const Capture capture = record();
  const std::shared_ptr<EventTable> table = assemble::tabulate(assembleTrace(capture));
  const size_t recorded = table->entries.size();
  std::printf("%zu events of %d threads\n", recorded, kThreads);
  addTimed("by-id", recorded, kRepetitions,
           [&] { benchmark::DoNotOptimize(plainPass<uint32_t>(*table, [](const EventTable::Entry& entry) { return entry.event.name; })); });
  addTimed("by-text", recorded, kRepetitions, [&] {
    benchmark::DoNotOptimize(
        plainPass<std::string_view>(*table, [&](const EventTable::Entry& entry) { return table->trace->name(entry.event.name).text; }));
  });
  addTimed("averages", recorded, kRepetitions, [&] {
    analysis::AverageCount averages({});
    averages.add(*table);
    benchmark::DoNotOptimize(averages.finish());
  });
  addTimed("from-capture", recorded, kRepetitions, [&] { benchmark::DoNotOptimize(keyAverages(capture)); });
  Minima minima;
  benchmark::RunSpecifiedBenchmarks(&minima);
  return printTable(minima, {{"keyAverages, against a hash-map pass by name id", "averages", "by-id", Bar::ratio, 3},
                             {"keyAverages, against a hash-map pass by name text", "averages", "by-text", Bar::ratio, 3},
                             {"keyAverages(capture): decoding, pairing and sorting as well", "from-capture", "", Bar::none_ns, 0}}) == 0
             ? 0
             : 1;
}

}  // namespace
}  // namespace key_averages_benchmark

int main(int argc, char** argv) { return key_averages_benchmark::runAll(argc, argv); }
