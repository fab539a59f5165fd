// In place of exporters and assembly, where the library is built with XSIGMA_ENABLE_KINETO=OFF.
#include "xsigma/profiler/exporter.h"

namespace xsigma::profiler {

Exporter::~Exporter() = default;
Trace::~Trace() = default;
TraceVisitor::~TraceVisitor() = default;
TraceTotals Trace::forEachBatch(const std::function<void(EventBatch&)>&, std::chrono::nanoseconds) const { return {}; }
bool decodeInputs(const PackedInputs&, std::vector<RecordedInput>&, std::vector<std::string>*) { return false; }

const std::vector<const Exporter*>& allExporters() {
  static const std::vector<const Exporter*> none;
  return none;
}

Expected<ExportReport> exportCapture(const Capture&, const std::string& path, const ExportOptions&, std::string_view) {
  return Status(StatusCode::unsupported, "cannot save '" + path + "': this library was built with XSIGMA_ENABLE_KINETO=OFF, without captures and exporters. "
                                         "Build it with XSIGMA_ENABLE_KINETO=ON");
}

std::shared_ptr<const Trace> assembleTrace(const Capture&) {
  throw ProfilerError("assembleTrace: this library was built with XSIGMA_ENABLE_KINETO=OFF, without captures. Build it with XSIGMA_ENABLE_KINETO=ON");
}

}  // namespace xsigma::profiler
