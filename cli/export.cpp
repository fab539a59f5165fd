#include "export.h"

#include <xsigma/profiler/exporter.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "exit_status.h"

namespace xsp {
namespace {

using namespace xsigma::profiler;

struct Arguments {
  std::string file;
  std::string format;
  std::string output;
  double deadline_s = 0;
  unsigned threads = 0;
  bool numeric_ids = false;
};

std::string formatHelp() {
  std::string help = "the format; by the ending of the output if not given, json without one:";
  for (const Exporter* const exporter : allExporters()) {
    help += "\n  " + std::string(exporter->format()) + ": " + std::string(exporter->description());
  }
  return help;
}

// trace.xst -> trace.json
std::string besideTheCapture(const std::string& file, const std::string& format) {
  const std::string_view ending = ".xst";
  const bool has_ending = file.size() > ending.size() && file.compare(file.size() - ending.size(), ending.size(), ending) == 0;
  return (has_ending ? file.substr(0, file.size() - ending.size()) : file) + "." + format;
}

int run(const Arguments& arguments) {
  const Expected<Capture> capture = openCapture(arguments.file);
  if (!capture) {
    std::fprintf(stderr, "xsp export: %s\n", capture.message().c_str());
    return capture.status().code() == StatusCode::corrupt ? kExitCorrupt : kExitUsage;
  }
  ExportOptions options;
  options.workers = arguments.threads;
  constexpr double kMostSeconds = 9e9;  // what nanoseconds in 64 bits can say
  options.deadline = std::chrono::nanoseconds(static_cast<int64_t>(std::min(arguments.deadline_s, kMostSeconds) * 1e9));
  options.numeric_ids_only = arguments.numeric_ids;
  const std::string output =
      !arguments.output.empty() ? arguments.output : besideTheCapture(arguments.file, arguments.format.empty() ? "json" : arguments.format);
  const Expected<ExportReport> report = exportCapture(*capture, output, options, arguments.format);
  if (!report) {
    std::fprintf(stderr, "xsp export: %s\n", report.message().c_str());
    return kExitUsage;
  }
  const Ledger ledger = capture->ledger();
  std::printf("%s: %llu events, %llu bytes", output.c_str(), static_cast<unsigned long long>(report->events),
              static_cast<unsigned long long>(report->bytes));
  if (report->unfinished != 0) std::printf(", %llu unfinished", static_cast<unsigned long long>(report->unfinished));
  std::printf("\n");
  if (ledger.dropped != 0) {
    std::printf("%llu of %llu scopes were lost; xsp verify %s says why\n", static_cast<unsigned long long>(ledger.dropped),
                static_cast<unsigned long long>(ledger.attempted), arguments.file.c_str());
  }
  if (ledger.device.dropped != 0) {
    std::printf("%llu records of devices were lost; xsp verify %s says why\n", static_cast<unsigned long long>(ledger.device.dropped),
                arguments.file.c_str());
  }
  if (ledger.device.not_counted != 0) {
    std::printf("%llu samples, ranges or launches have no hardware counters\n", static_cast<unsigned long long>(ledger.device.not_counted));
  }
  if (!report->complete) std::printf("the deadline came first: the file holds a part of the capture, and says so\n");
  if (!capture->damages().empty())
    std::printf("the capture is damaged in %zu places; xsp verify %s names them\n", capture->damages().size(), arguments.file.c_str());
  return report->complete && capture->damages().empty() ? kExitWhole : kExitLoss;
}

}  // namespace

void addExport(CLI::App& app, int& status) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const verb = app.add_subcommand("export", "writes a capture as a trace for viewers");
  verb->add_option("FILE", arguments->file, "a capture, .xst")->required();
  verb->add_option("-t,--type", arguments->format, formatHelp());
  verb->add_option("-o,--output", arguments->output, "where to; beside the capture if not given");
  verb->add_option("--deadline", arguments->deadline_s, "stop after so many seconds, with what is there then")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("-j,--threads", arguments->threads, "how many threads to use; all that are useful if not given")
      ->check(CLI::Range(0u, 256u));
  verb->add_flag("--numeric-ids", arguments->numeric_ids, "no rows with words for numbers, for speedscope");
  verb->footer(
      "Exit status: 0 all that was recorded is in the file, 2 it could not be written, 3 a part is missing (deadline, damage), 4 not a "
      "capture.");
  verb->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace xsp
