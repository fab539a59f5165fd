// Exporters: what turns a trace into a file. exportCapture() picks one by the file's ending.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "xsigma/profiler/capture.h"
#include "xsigma/profiler/export.h"
#include "xsigma/profiler/status.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler {

struct ExportOptions {
  unsigned workers = 0;                  // threads; 0 = as many as are useful
  std::chrono::nanoseconds deadline{0};  // after it the file is closed with what is in it, and says so; 0 = none
  bool numeric_ids_only = false;         // leave out rows whose process or thread is a word, for viewers that refuse them (speedscope)
};

// What went into the file.
struct ExportReport {
  uint64_t events = 0;
  uint64_t unfinished = 0;
  uint64_t unmatched = 0;
  uint64_t bytes = 0;
  bool complete = true;  // false: the deadline came first
};

// Stateless; any thread may use it. The file is whole or absent.
class XSIGMA_PROFILER_API Exporter {
 public:
  virtual ~Exporter();
  virtual std::string_view format() const = 0;       // what -t takes: "json"
  virtual std::string_view ending() const = 0;       // of a file's name: ".json"
  virtual std::string_view description() const = 0;  // for --help, half a line
  virtual Expected<ExportReport> write(const Trace& trace, const std::string& path, const ExportOptions& options) const = 0;
};

// All there are, the first being the one for endings that nobody claims.
XSIGMA_PROFILER_API const std::vector<const Exporter*>& allExporters();

// Writes a capture to `path`. The format is a name such as "json", or found by the path's ending if empty: .json, .json.gz and so on; .xst is the
// capture itself; any other ending gets JSON. Folders are not created.
XSIGMA_PROFILER_API Expected<ExportReport> exportCapture(const Capture& capture, const std::string& path, const ExportOptions& options = {},
                                                         std::string_view format = {});

}  // namespace xsigma::profiler
