// An exporter to copy: one line of text per event. Copy this folder, rename what says "template", and add the folder to the list in
// src/exporters/CMakeLists.txt; nothing else needs to know.
#include <fmt/format.h>

#include <iterator>
#include <vector>

#include "base/output_file.h"
#include "xsigma/profiler/exporter.h"

namespace xsigma::profiler::exporters {
namespace {

class TemplateExporter final : public Exporter {
 public:
  std::string_view format() const override { return "template"; }
  std::string_view ending() const override { return ".template.txt"; }
  std::string_view description() const override { return "one line of text per event: an example for writers of exporters"; }

  Expected<ExportReport> write(const Trace& trace, const std::string& path, const ExportOptions& options) const override {
    Expected<base::OutputFile> file = base::OutputFile::create(path, "the list of events");
    if (!file) return file.status();
    ExportReport report;
    Status status;
    std::string lines;
    const TraceTotals totals = trace.forEachBatch(
        [&](EventBatch& batch) {
          lines.clear();
          for (const TraceEvent& event : batch.events) {
            const TraceRow& row = batch.row(event);
            fmt::format_to(std::back_inserter(lines), "{} {} {} {} {}\n", row.thread_id, event.start_ns, event.duration_ns,
                           libkineto::toString(event.type), trace.name(event.name).text);
          }
          report.bytes += lines.size();
          if (status.ok()) status = file->write(lines);
        },
        options.deadline);
    if (!status) return status;
    if (status = file->finish(); !status) return status;
    report.events = totals.events;
    report.unfinished = totals.unfinished;
    report.unmatched = totals.unmatched;
    report.complete = totals.complete;
    return report;
  }
};

}  // namespace

void add_template(std::vector<const Exporter*>& all) {
  static const TemplateExporter exporter;
  all.push_back(&exporter);
}

}  // namespace xsigma::profiler::exporters
