#include "kineto/captured_trace.h"

#include "kineto/GenericTraceActivity.h"
#include "kineto/result_table.h"
#include "trace/event_args.h"
#include "xsigma/profiler/exporter.h"

namespace xsigma::profiler {
namespace {

// An event of the table, seen as an activity.
class ActivityView final : public libkineto::ITraceActivity {
 public:
  ActivityView(std::shared_ptr<const KinetoEvent::Table> table, size_t index) : table_(std::move(table)), entry_(table_->entry(index)) {}

  int64_t deviceId() const override { return table_->events->row(entry_).process_id; }
  int64_t resourceId() const override { return table_->events->row(entry_).resourceId(); }
  int32_t getThreadId() const override { return static_cast<int32_t>(resourceId()); }
  int64_t timestamp() const override { return entry_.event.start_ns; }
  int64_t duration() const override { return entry_.event.duration_ns; }
  int64_t correlationId() const override { return static_cast<int64_t>(entry_.event.id); }
  int flowType() const override { return entry_.details != nullptr ? entry_.details->flow_type : 0; }
  int64_t flowId() const override { return entry_.details != nullptr ? entry_.details->flow_id : 0; }
  bool flowStart() const override { return entry_.details != nullptr && entry_.details->flow_start; }
  libkineto::ActivityType type() const override { return entry_.event.type; }
  const std::string name() const override { return table_->name(entry_); }
  const libkineto::ITraceActivity* linkedActivity() const override { return nullptr; }
  const libkineto::TraceSpan* traceSpan() const override { return nullptr; }
  const std::string metadataJson() const override {
    return entry_.details != nullptr ? trace::ArgsText(*table_->events->trace).text(*entry_.details) : std::string();
  }

 private:
  std::shared_ptr<const KinetoEvent::Table> table_;
  const assemble::EventTable::Entry& entry_;
};

}  // namespace

const std::vector<const libkineto::ITraceActivity*>* CapturedTrace::activities() {
  std::call_once(viewed_, [this] {
    if (trace_only_) return;
    auto table = std::make_shared<KinetoEvent::Table>();
    table->events = assemble::tabulate(assembleTrace(capture_), deadline_);
    for (size_t i = 0; i < table->events->entries.size(); ++i) {
      owned_.push_back(std::make_unique<ActivityView>(table, i));
      views_.push_back(owned_.back().get());
    }
  });
  return &views_;
}

void CapturedTrace::save(const std::string& path) {
  ExportOptions options;
  options.deadline = deadline_;
  const Expected<ExportReport> report = exportCapture(capture_, path, options);
  if (!report) throw ProfilerError(report.message());
}

}  // namespace xsigma::profiler
