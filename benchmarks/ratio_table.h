// Keeps the minimum over the repetitions of every benchmark, and prints each figure beside its floor and its bar.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace figures {

enum class Bar { ratio, difference_ns, at_most, none_ns };

// subject / floor, subject − floor, or the subject alone, held against a limit; none_ns: subject − floor, for information.
struct Figure {
  std::string what;
  std::string subject;
  std::string floor;
  Bar bar;
  double limit;
  const char* unit = "";
};

class Minima : public benchmark::ConsoleReporter {
 public:
  Minima() : ConsoleReporter(OO_None) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;

  bool has(const std::string& name) const { return best_.count(name) != 0; }
  double of(const std::string& name) const { return best_.at(name); }
  void set(const std::string& name, double value) { best_[name] = value; }

 private:
  std::map<std::string, double> best_;
};

// A benchmark of this name: the time of body(), once in each repetition, over `count`.
void addTimed(const std::string& name, size_t count, int repetitions, std::function<void()> body);

// How many figures missed their bar.
int printTable(const Minima& minima, const std::vector<Figure>& figures);

}  // namespace figures
