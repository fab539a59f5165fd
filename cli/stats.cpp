#include "stats.h"

#include <xsigma/profiler/key_averages.h>
#include <xsigma/profiler/memory.h>

#include <cstdio>
#include <memory>

#include "exit_status.h"

namespace xsp {
namespace {

using namespace xsigma::profiler;

struct Arguments {
  std::string file;
  std::string output;
  std::string stacks;
  std::string type = "table";
  GroupBy group_by;
  TableOptions table;
  bool memory = false;
};

std::string textOf(const KeyAverages& averages, const Arguments& arguments) {
  if (arguments.type == "csv") return averages.csv(arguments.table.sort_by);
  if (arguments.type == "json") return averages.json(arguments.table.sort_by);
  return averages.table(arguments.table);
}

void showMemory(const Capture& capture, const Arguments& arguments) {
  const MemoryProfile profile = analyzeMemory(capture);
  std::printf("%s", profile.summary().c_str());
  if (arguments.output.empty()) return;
  if (const Status status = profile.save(arguments.output); !status) throw ProfilerError(status.message());
  std::printf("written to %s\n", arguments.output.c_str());
}

void showAverages(const Capture& capture, const Arguments& arguments) {
  const KeyAverages averages = keyAverages(capture, arguments.group_by);
  if (arguments.output.empty()) {
    std::printf("%s", textOf(averages, arguments).c_str());
  } else {
    averages.save(arguments.output, arguments.table);
    std::printf("%s: %zu rows\n", arguments.output.c_str(), averages.rows().size());
  }
}

int run(const Arguments& arguments) {
  const Expected<Capture> capture = openCapture(arguments.file);
  if (!capture) {
    std::fprintf(stderr, "xsp stats: %s\n", capture.message().c_str());
    return capture.status().code() == StatusCode::corrupt ? kExitCorrupt : kExitUsage;
  }
  try {
    arguments.memory ? showMemory(*capture, arguments) : showAverages(*capture, arguments);
    if (!arguments.stacks.empty()) exportStacks(*capture, arguments.stacks);
  } catch (const ProfilerError& error) {
    std::fprintf(stderr, "xsp stats: %s\n", error.what());
    return kExitUsage;
  }
  return capture->ledger().whole() && capture->damages().empty() ? kExitWhole : kExitLoss;
}

}  // namespace

void addStats(CLI::App& app, int& status) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const verb = app.add_subcommand("stats", "shows where a capture's time went, by name");
  verb->add_option("FILE", arguments->file, "a capture, .xst")->required();
  CLI::Option* const memory =
      verb->add_flag("--memory", arguments->memory, "where memory went instead: peak, leaks, failures; -o picture.html draws it");
  CLI::Option* const output =
      verb->add_option("-o,--output", arguments->output,
                       "a file instead of the screen, by ending: .csv, .json, otherwise the table; with --memory: .html or .json");
  verb->add_option("-t,--type", arguments->type, "on the screen: table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str()
      ->excludes(memory)
      ->excludes(output);
  verb->add_option("-s,--sort", arguments->table.sort_by,
                   "by what: self_cpu_time_total, cpu_time_total, cpu_time, count, p99, cpu_memory_usage, name, ...")
      ->capture_default_str()
      ->excludes(memory);
  verb->add_option("-n,--rows", arguments->table.row_limit, "how many rows of the table; -1 for all. csv and json have all")
      ->capture_default_str()
      ->excludes(memory);
  verb->add_flag("--top-level", arguments->table.top_level_events_only, "of the table: only scopes that ran outside every other")
      ->excludes(memory);
  verb->add_flag("--statistics", arguments->table.statistics, "in the table: min, median, p95, p99, max and deviation of a call as well")
      ->excludes(memory);
  verb->add_flag("--by-shape", arguments->group_by.input_shapes, "a row for each shape of inputs")->excludes(memory);
  verb->add_flag("--by-thread", arguments->group_by.thread, "a row for each thread")->excludes(memory);
  verb->add_option("--by-stack", arguments->group_by.stack_frames, "a row for each stack, by so many of its innermost frames")
      ->excludes(memory);
  verb->add_option("--stacks", arguments->stacks, "writes the lines that flame graphs are drawn from to this file as well");
  verb->footer("Exit status: 0 all that happened is in it, 2 it could not be shown or written, 3 something was lost, 4 not a capture.");
  verb->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace xsp
