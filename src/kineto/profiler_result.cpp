#include "kineto/profiler_result.h"

#include <exception>

#include "analysis/key_averages.h"
#include "base/log.h"
#include "xsigma/profiler/exporter.h"

namespace xsigma::profiler {

ProfilerResult::State::State(Capture recorded, ProfilerConfig asked_for, post_process_t post_process)
    : capture(std::move(recorded)), config(std::move(asked_for)), callback(std::move(post_process)) {}

const KinetoEvent::Table& ProfilerResult::State::table() {
  std::call_once(assembled_, [this] { assemble(); });
  return *table_;
}

void ProfilerResult::State::assemble() {
  auto table = std::make_shared<KinetoEvent::Table>();
  table->config = config;
  if (config.experimental_config.trace_only) {
    table->events = std::make_shared<assemble::EventTable>();
  } else {
    table->events = assemble::tabulate(assembleTrace(capture), config.experimental_config.assembly_deadline);
    if (config.state == ProfilerState::KINETO_GPU_FALLBACK) noteTimed(*table);
    if (callback) runCallback(*table);
  }
  table_ = std::move(table);
}

void ProfilerResult::State::noteTimed(KinetoEvent::Table& assembled) {
  for (const assemble::EventTable::Entry& entry : assembled.events->entries) {
    if (entry.event.type != libkineto::ActivityType::CONCURRENT_KERNEL || entry.details == nullptr || entry.details->linked_id == 0)
      continue;
    assembled.timed_ns.emplace(entry.details->linked_id, entry.event.duration_ns);
  }
}

// For every scope and backend event, by start. A callback that throws has had its say: the rest stays as it is.
void ProfilerResult::State::runCallback(KinetoEvent::Table& assembled) const {
  const std::shared_ptr<const KinetoEvent::Table> view(std::shared_ptr<void>(), &assembled);
  try {
    for (size_t i = 0; i < assembled.events->entries.size(); ++i) {
      const EventType tag = assembled.tag(assembled.entry(i));
      if (tag != EventType::TorchOp && tag != EventType::Backend) continue;
      const KinetoEvent event(view, i);
      KinetoEvent::Table::Rewritten lists{event.stack(), event.moduleHierarchy()};
      callback(event.debugHandle(), lists.stack, lists.modules);
      assembled.rewritten.emplace(i, std::move(lists));
    }
  } catch (const std::exception& error) {
    base::warn(std::string("the post-process callback threw: ") + error.what() + ". It is not called for the remaining events");
  } catch (...) {
    base::warn("the post-process callback threw something that is no std::exception. It is not called for the remaining events");
  }
}

const std::vector<KinetoEvent>& ProfilerResult::State::events() {
  table();
  std::call_once(listed_, [this] {
    events_.reserve(table_->events->entries.size());
    for (size_t i = 0; i < table_->events->entries.size(); ++i) events_.emplace_back(table_, i);
  });
  return events_;
}

const std::vector<std::shared_ptr<Result>>& ProfilerResult::State::tree() {
  table();
  std::call_once(grown_, [this] { tree_ = buildTree(*table_); });
  return tree_;
}

ProfilerResult::ProfilerResult() = default;
ProfilerResult::ProfilerResult(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProfilerResult::~ProfilerResult() = default;

int64_t ProfilerResult::trace_start_ns() const { return state_ != nullptr ? state_->capture.info().start_unix_ns : 0; }

const std::vector<KinetoEvent>& ProfilerResult::events() const {
  static const std::vector<KinetoEvent> none;
  return state_ != nullptr ? state_->events() : none;
}

const std::vector<std::shared_ptr<Result>>& ProfilerResult::event_tree() const {
  static const std::vector<std::shared_ptr<Result>> none;
  return state_ != nullptr ? state_->tree() : none;
}

void ProfilerResult::save(const std::string& path) const {
  if (state_ == nullptr)
    throw ProfilerError("cannot save '" + path + "': this result is of no session. Save the one that disableProfiler() returned");
  ExportOptions options;
  options.deadline = state_->config.experimental_config.assembly_deadline;
  const Expected<ExportReport> report = exportCapture(state_->capture, path, options);
  if (!report) throw ProfilerError(report.message());
}

KeyAverages ProfilerResult::keyAverages(const GroupBy& group_by) const {
  if (state_ == nullptr) return {};
  if (state_->config.experimental_config.trace_only) return profiler::keyAverages(state_->capture, group_by);
  analysis::AverageCount count(group_by);
  count.add(*state_->table().events);
  count.addLost(state_->capture.ledger());
  return KeyAverages(count.finish());
}

void ProfilerResult::exportStacks(const std::string& path, std::string_view metric) const {
  if (state_ == nullptr)
    throw ProfilerError("cannot write stacks to '" + path + "': this result is of no session. Ask the one that disableProfiler() returned");
  profiler::exportStacks(state_->capture, path, metric);
}

Ledger ProfilerResult::ledger() const { return state_ != nullptr ? state_->capture.ledger() : Ledger(); }

const Capture& ProfilerResult::capture() const {
  static const Capture none;
  return state_ != nullptr ? state_->capture : none;
}

bool ProfilerResult::complete() const { return state_ == nullptr || state_->table().events->totals.complete; }

}  // namespace xsigma::profiler
