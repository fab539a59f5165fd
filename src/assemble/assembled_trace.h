// AssembledTrace: the Trace of a capture.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "assemble/symbolizer.h"
#include "assemble/thread_stream.h"
#include "capture/source.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::assemble {

class AssembledTrace final : public Trace {
 public:
  AssembledTrace(const Capture& capture, std::shared_ptr<const Capture::Source> source);

  const TraceInfo& info() const override { return info_; }
  const Ledger& ledger() const override;
  TraceName name(uint32_t id) const override;
  std::vector<std::string> stack(uint32_t id) const override;
  TraceTotals visit(TraceVisitor& visitor, const VisitOptions& options) const override;

 private:
  void findParts();

  Capture capture_;
  std::shared_ptr<const Capture::Source> source_;
  TraceInfo info_;
  int64_t realtime_offset_ns_ = 0;
  std::vector<TraceRow> rows_;
  std::vector<ThreadPart> parts_;
  Symbolizer symbolizer_;
  mutable std::once_flag counted_;
  mutable Ledger ledger_;
};

}  // namespace xsigma::profiler::assemble
