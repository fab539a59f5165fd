#include <fmt/format.h>

#include <algorithm>

#include "xsigma/profiler/exporter.h"

namespace xsigma::profiler {
namespace {

constexpr std::string_view kCaptureFormat = "xst";

bool endsWith(std::string_view text, std::string_view ending) {
  return text.size() > ending.size() && text.substr(text.size() - ending.size()) == ending;
}

Expected<const Exporter*> exporterOf(std::string_view format, std::string_view path) {
  const std::vector<const Exporter*>& all = allExporters();
  if (format.empty()) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Exporter* each) { return endsWith(path, each->ending()); });
    return found != all.end() ? *found : all.front();
  }
  std::string known;
  for (const Exporter* const each : all) {
    if (each->format() == format) return each;
    known += fmt::format("{}, ", each->format());
  }
  return Status(StatusCode::invalid_argument, fmt::format("there is no format '{}'. Use one of {}{}", format, known, kCaptureFormat));
}

}  // namespace

Expected<ExportReport> exportCapture(const Capture& capture, const std::string& path, const ExportOptions& options, std::string_view format) {
  if (format == kCaptureFormat || (format.empty() && endsWith(path, ".xst"))) {
    if (Status status = capture.save(path); !status) return status;
    const Ledger ledger = capture.ledger();
    return ExportReport{ledger.recorded, ledger.unfinished, 0, capture.info().bytes_used, true};
  }
  const Expected<const Exporter*> exporter = exporterOf(format, path);
  if (!exporter) return exporter.status();
  return (*exporter)->write(*assembleTrace(capture), path, options);
}

}  // namespace xsigma::profiler
