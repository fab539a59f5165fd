#include "ratio_table.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace figures {

void Minima::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
    const std::string name = run.run_name.function_name;
    const double ns = run.GetAdjustedRealTime();
    const auto [known, added] = best_.emplace(name, ns);
    if (!added) known->second = std::min(known->second, ns);
  }
}

void addTimed(const std::string& name, size_t count, int repetitions, std::function<void()> body) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [count, body = std::move(body)](benchmark::State& state) {
                                 for (auto _ : state) {
                                   const auto begin = std::chrono::steady_clock::now();
                                   body();
                                   const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
                                   state.SetIterationTime(seconds.count() / static_cast<double>(count));
                                 }
                               })
      ->UseManualTime()
      ->Iterations(1)
      ->Repetitions(repetitions)
      ->Unit(benchmark::kNanosecond);
}

int printTable(const Minima& minima, const std::vector<Figure>& figures) {
  std::printf("minima of interleaved repetitions, ns per scope or event unless a unit is given\n\n");
  std::printf("%-58s %10s %10s %10s %12s\n", "figure", "subject", "floor", "result", "bar");
  int missed = 0;
  for (const Figure& figure : figures) {
    if (!minima.has(figure.subject) || (!figure.floor.empty() && !minima.has(figure.floor))) continue;
    const double subject = minima.of(figure.subject);
    const double floor = figure.floor.empty() ? 0 : minima.of(figure.floor);
    const double result = figure.bar == Bar::ratio ? subject / floor : figure.bar == Bar::at_most ? subject : subject - floor;
    const bool met = figure.bar == Bar::none_ns || result <= figure.limit;
    missed += met ? 0 : 1;
    char floor_text[32] = "";
    if (!figure.floor.empty()) std::snprintf(floor_text, sizeof floor_text, "%.2f", floor);
    const char* const unit = figure.bar == Bar::ratio ? "x" : figure.bar == Bar::at_most ? figure.unit : "ns";
    std::printf("%-58s %10.2f %10s %8.2f %-3s", figure.what.c_str(), subject, floor_text, result, unit);
    if (figure.bar != Bar::none_ns) std::printf(" <= %-5g %s", figure.limit, met ? "" : "MISSED");
    std::printf("\n");
  }
  std::printf("\n%s\n", missed == 0 ? "every bar is met" : "some bars are missed");
  return missed;
}

}  // namespace figures
