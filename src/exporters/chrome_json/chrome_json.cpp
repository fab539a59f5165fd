// The Chrome trace exporter: Kineto's shape of JSON, plain or compressed while it is written.
#include <fmt/format.h>

#include <vector>

#include "base/gzip.h"
#include "base/output_file.h"
#include "exporters/chrome_json/event_text.h"
#include "exporters/chrome_json/frame_text.h"
#include "xsigma/profiler/exporter.h"

namespace xsigma::profiler::exporters {
namespace chrome {
namespace {

// Formats batches on several threads and writes them in order.
class Writing final : public TraceVisitor {
 public:
  Writing(const Trace& trace, base::OutputFile& file, int64_t base_ns, bool compressed)
      : trace_(trace), file_(file), base_ns_(base_ns), compressed_(compressed) {}

  void start(unsigned workers, size_t places) override {
    for (unsigned i = 0; i < workers; ++i) workers_.emplace_back(trace_, base_ns_);
    places_.resize(places);
  }
  void prepare(unsigned worker, size_t place, EventBatch& batch) override {
    Place& at = places_[place];
    at.text.clear();
    workers_[worker].format.append(at.text, batch);
    if (compressed_) workers_[worker].deflater.deflate(at.text.view(), at.piece);
  }
  bool accept(size_t place) override { return compressed_ ? put(places_[place].piece) : putRaw(places_[place].text.view()); }

  // Before or after the visit.
  bool put(std::string_view text) {
    if (!compressed_) return putRaw(text);
    base::GzipPiece piece;
    deflater_.deflate(text, piece);
    return put(piece);
  }
  bool putRaw(std::string_view bytes) {
    if (status_.ok()) status_ = file_.write(bytes);
    bytes_ += bytes.size();
    return status_.ok();
  }
  std::string gzipTail() const { return frame_.tail(); }
  const Status& status() const { return status_; }
  uint64_t bytes() const { return bytes_; }

 private:
  struct Worker {
    Worker(const Trace& trace, int64_t base_ns) : format(trace, base_ns) {}
    EventText format;
    base::Deflater deflater;
  };
  struct Place {
    base::TextBuffer text;
    base::GzipPiece piece;
  };

  bool put(const base::GzipPiece& piece) {
    frame_.add(piece);
    return putRaw(piece.bytes);
  }

  const Trace& trace_;
  base::OutputFile& file_;
  int64_t base_ns_;
  bool compressed_;
  std::vector<Worker> workers_;
  std::vector<Place> places_;
  base::Deflater deflater_;
  base::GzipFrame frame_;
  Status status_;
  uint64_t bytes_ = 0;
};

class ChromeExporter final : public Exporter {
 public:
  explicit ChromeExporter(bool compressed) : compressed_(compressed) {}

  std::string_view format() const override { return compressed_ ? "json.gz" : "json"; }
  std::string_view ending() const override { return compressed_ ? ".json.gz" : ".json"; }
  std::string_view description() const override {
    return compressed_ ? "the same, compressed" : "Chrome trace: Perfetto, chrome://tracing, HTA, TensorBoard";
  }

  Expected<ExportReport> write(const Trace& trace, const std::string& path, const ExportOptions& options) const override {
    Expected<base::OutputFile> file = base::OutputFile::create(path, "the trace");
    if (!file) return file.status();
    const int64_t base_ns = baseTime(trace.info().start_ns);
    Writing writing(trace, *file, base_ns, compressed_);
    if (compressed_) writing.putRaw(base::GzipFrame::head());
    writing.put(headText(trace, base_ns));
    if (!writing.status().ok()) return writing.status();
    const TraceTotals totals = trace.visit(writing, {options.workers, options.deadline});
    if (!writing.status().ok()) return writing.status();
    writing.put(tailText(trace, totals, base_ns, path, options));
    if (compressed_) writing.putRaw(writing.gzipTail());
    if (!writing.status().ok()) return writing.status();
    if (Status status = file->finish(); !status) return status;
    return ExportReport{totals.events, totals.unfinished, totals.unmatched, writing.bytes(), totals.complete};
  }

 private:
  bool compressed_;
};

}  // namespace
}  // namespace chrome

void add_chrome_json(std::vector<const Exporter*>& all) {
  static const chrome::ChromeExporter plain(false);
  static const chrome::ChromeExporter compressed(true);
  all.push_back(&plain);
  all.push_back(&compressed);
}

}  // namespace xsigma::profiler::exporters
