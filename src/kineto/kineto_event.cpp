#include <algorithm>
#include <charconv>

#include "base/json_text.h"
#include "kineto/result_table.h"
#include "trace/event_args.h"
#include "xsigma/profiler/flops.h"

namespace xsigma::profiler {

using assemble::EventTable;
using Entry = EventTable::Entry;

namespace {

bool isAllocation(const TraceEvent& event) { return event.kind == TraceEventKind::memory || event.kind == TraceEventKind::out_of_memory; }
bool isScope(const TraceEvent& event) {
  return (event.kind == TraceEventKind::slice || event.kind == TraceEventKind::async_slice) && (event.flags & kEventGiven) == 0;
}

std::vector<RecordedInput> inputsOf(const EventDetails* details) {
  std::vector<RecordedInput> values;
  if (details != nullptr && details->inputs.words != nullptr) decodeInputs(details->inputs, values);
  return values;
}

std::string backendOf(const EventDetails* details) { return details != nullptr ? base::memberText(details->metadata_json, "Backend") : std::string(); }

std::string dtypeOf(const RecordedInput& input) {
  switch (input.kind) {
    case InputValue::Kind::tensor: return input.text;
    case InputValue::Kind::boolean:
    case InputValue::Kind::integer:
    case InputValue::Kind::real: return "Scalar";
    case InputValue::Kind::list: {
      const bool tensors = !input.items.empty() && input.items[0].kind == InputValue::Kind::tensor;
      return tensors ? "TensorList" : "ScalarList";
    }
    default: return "";
  }
}

}  // namespace

std::string KinetoEvent::Table::name(const Entry& entry) const {
  if (entry.event.kind == TraceEventKind::memory) return "[memory]";
  if (entry.event.kind == TraceEventKind::out_of_memory) return "[OutOfMemory]";
  return std::string(events->trace->name(entry.event.name).text);
}

EventType KinetoEvent::Table::tag(const Entry& entry) const {
  if (entry.event.kind == TraceEventKind::memory) return EventType::Allocation;
  if (entry.event.kind == TraceEventKind::out_of_memory) return EventType::OutOfMemory;
  if (isScope(entry.event)) return EventType::TorchOp;
  return backendOf(entry.details).empty() ? EventType::Kineto : EventType::Backend;
}

DeviceType KinetoEvent::Table::deviceType(const Entry& entry) const {
  if (isAllocation(entry.event) && entry.details != nullptr) return entry.details->device.type;
  return deviceTypeFromActivity(entry.event.type);
}

std::string KinetoEvent::name() const { return table_->name(table_->entry(index_)); }
uint64_t KinetoEvent::startThreadId() const { return table_->events->row(table_->entry(index_)).logical_id; }
uint64_t KinetoEvent::endThreadId() const {
  const EventDetails* const details = table_->entry(index_).details;
  if (details == nullptr || details->end_row == 0) return startThreadId();
  return table_->events->totals.rows[details->end_row - 1].logical_id;
}
uint8_t KinetoEvent::activityType() const { return static_cast<uint8_t>(table_->entry(index_).event.type); }
uint64_t KinetoEvent::fwdThreadId() const {
  const EventDetails* const details = table_->entry(index_).details;
  return details != nullptr && details->sequence_number >= 0 ? details->forward_thread : 0;
}
int64_t KinetoEvent::sequenceNr() const {
  const EventDetails* const details = table_->entry(index_).details;
  return details != nullptr ? details->sequence_number : -1;
}
uint8_t KinetoEvent::scope() const { return static_cast<uint8_t>(table_->events->trace->name(table_->entry(index_).event.name).scope); }
int64_t KinetoEvent::debugHandle() const {
  const EventDetails* const details = table_->entry(index_).details;
  if (details == nullptr) return -1;
  const std::string given = base::memberText(details->metadata_json, "Debug handle");
  int64_t handle = details->debug_handle;
  std::from_chars(given.data(), given.data() + given.size(), handle);  // stays as it is where there is no number
  return handle;
}
bool KinetoEvent::isAsync() const { return table_->entry(index_).event.kind == TraceEventKind::async_slice; }
bool KinetoEvent::isFinished() const { return (table_->entry(index_).event.flags & kEventUnfinished) == 0; }
int64_t KinetoEvent::startNs() const { return table_->entry(index_).event.start_ns; }
int64_t KinetoEvent::endNs() const { return table_->entry(index_).endNs(); }
int64_t KinetoEvent::durationNs() const { return table_->entry(index_).event.duration_ns; }

int64_t KinetoEvent::cudaElapsedUs() const {
  const TraceEvent& event = table_->entry(index_).event;
  const auto timed = isScope(event) ? table_->timed_ns.find(event.id) : table_->timed_ns.end();
  return timed != table_->timed_ns.end() ? (timed->second + 500) / 1000 : -1;
}

bool KinetoEvent::hasShapes() const {
  const EventDetails* const details = table_->entry(index_).details;
  return details != nullptr && details->inputs.words != nullptr;
}
std::vector<std::vector<int64_t>> KinetoEvent::shapes() const {
  std::vector<std::vector<int64_t>> all;
  for (RecordedInput& input : inputsOf(table_->entry(index_).details)) all.push_back(std::move(input.sizes));
  return all;
}
bool KinetoEvent::hasTypes() const { return hasShapes(); }
std::vector<std::string> KinetoEvent::dtypes() const {
  std::vector<std::string> all;
  for (const RecordedInput& input : inputsOf(table_->entry(index_).details)) all.push_back(dtypeOf(input));
  return all;
}
bool KinetoEvent::hasConcreteInputs() const { return hasShapes(); }
std::vector<RecordedInput> KinetoEvent::concreteInputs() const { return inputsOf(table_->entry(index_).details); }
bool KinetoEvent::hasKwinputs() const {
  const EventDetails* const details = table_->entry(index_).details;
  return details != nullptr && details->keyword_inputs.words != nullptr;
}
std::unordered_map<std::string, RecordedInput> KinetoEvent::kwinputs() const {
  std::unordered_map<std::string, RecordedInput> all;
  if (!hasKwinputs()) return all;
  std::vector<RecordedInput> values;
  std::vector<std::string> keys;
  decodeInputs(table_->entry(index_).details->keyword_inputs, values, &keys);
  for (size_t i = 0; i < keys.size() && i < values.size(); ++i) all.emplace(std::move(keys[i]), std::move(values[i]));
  return all;
}
uint64_t KinetoEvent::flops() const {
  if (!table_->config.with_flops || !hasShapes()) return 0;
  return flopsOf(name(), inputsOf(table_->entry(index_).details));
}

bool KinetoEvent::hasStack() const { return !stack().empty(); }
std::vector<std::string> KinetoEvent::stack() const {
  if (const auto found = table_->rewritten.find(index_); found != table_->rewritten.end()) return found->second.stack;
  const Entry& entry = table_->entry(index_);
  const bool was_asked_for_frames = table_->config.with_stack;
  if (was_asked_for_frames && (entry.details == nullptr || entry.details->stack == 0)) return {};
  return assemble::stackOf(*table_->events, entry);
}
bool KinetoEvent::hasModuleHierarchy() const { return !moduleHierarchy().empty(); }
std::vector<std::string> KinetoEvent::moduleHierarchy() const {
  if (const auto found = table_->rewritten.find(index_); found != table_->rewritten.end()) return found->second.modules;
  std::vector<std::string> modules;
  if (!table_->config.with_modules) return modules;
  for (uint32_t parent = table_->entry(index_).parent; parent != assemble::kNoParent; parent = table_->entry(parent).parent) {
    const Entry& around = table_->entry(parent);
    if (isScope(around.event) && table_->events->trace->name(around.event.name).scope == RecordScope::CUSTOM_CLASS) modules.push_back(table_->name(around));
  }
  std::reverse(modules.begin(), modules.end());
  return modules;
}

DeviceType KinetoEvent::deviceType() const { return table_->deviceType(table_->entry(index_)); }
int KinetoEvent::deviceIndex() const {
  const Entry& entry = table_->entry(index_);
  if (isAllocation(entry.event) && entry.details != nullptr) return entry.details->device.index;
  return static_cast<int>(table_->events->row(entry).process_id);
}
int64_t KinetoEvent::deviceResourceId() const { return table_->events->row(table_->entry(index_)).resourceId(); }
int64_t KinetoEvent::nBytes() const {
  const Entry& entry = table_->entry(index_);
  return isAllocation(entry.event) && entry.details != nullptr ? entry.details->bytes : 0;
}
uint64_t KinetoEvent::correlationId() const { return table_->entry(index_).event.id; }
uint64_t KinetoEvent::linkedCorrelationId() const {
  const EventDetails* const details = table_->entry(index_).details;
  return details != nullptr ? details->linked_id : 0;
}
std::string KinetoEvent::backend() const { return backendOf(table_->entry(index_).details); }
void KinetoEvent::getPerfEventCounters(std::vector<uint64_t>& counters) const {
  const EventDetails* const details = table_->entry(index_).details;
  counters.clear();
  if (details != nullptr && details->perf_count != 0) counters.assign(details->perf, details->perf + details->perf_count);
}
std::unordered_map<std::string, std::string> KinetoEvent::extraMeta() const {
  std::unordered_map<std::string, std::string> all;
  const EventDetails* const details = table_->entry(index_).details;
  if (details == nullptr) return all;
  for (uint32_t i = 0; i < details->metadata_count; ++i) {
    all[std::string(table_->events->trace->name(details->metadata[i].key).text)] = details->metadata[i].text;
  }
  return all;
}
std::string KinetoEvent::metadataJson() const {
  const Entry& entry = table_->entry(index_);
  if (!table_->config.experimental_config.expose_kineto_event_metadata || entry.details == nullptr) return {};
  if (!isAllocation(entry.event)) return trace::ArgsText(*table_->events->trace).text(*entry.details);
  base::TextBuffer members;
  trace::appendMemoryArgs(members, entry.event, *entry.details);
  return std::string(members.view());
}

int64_t Result::selfTimeNS() const {
  int64_t inside = 0;
  int64_t covered_until = start_time_ns_;
  for (const std::shared_ptr<Result>& child : children_) {
    const int64_t from = std::max(child->start_time_ns_, covered_until);
    const int64_t until = std::min(child->end_time_ns_, end_time_ns_);
    if (until > from) inside += until - from;
    covered_until = std::max(covered_until, until);
  }
  return durationNS() - inside;
}

std::vector<std::shared_ptr<Result>> buildTree(const KinetoEvent::Table& table) {
  std::vector<std::shared_ptr<Result>> all;
  std::vector<std::shared_ptr<Result>> roots;
  all.reserve(table.events->entries.size());
  for (const Entry& entry : table.events->entries) {
    auto result = std::make_shared<Result>();
    result->name_ = table.name(entry);
    result->start_time_ns_ = entry.event.start_ns;
    result->end_time_ns_ = entry.endNs();
    result->start_tid_ = result->end_tid_ = table.events->row(entry).logical_id;
    if (entry.details != nullptr && entry.details->end_row != 0) result->end_tid_ = table.events->totals.rows[entry.details->end_row - 1].logical_id;
    result->finished_ = (entry.event.flags & kEventUnfinished) == 0;
    result->tag_ = table.tag(entry);
    result->kineto_type_ = entry.event.type;
    result->scope_ = table.events->trace->name(entry.event.name).scope;
    result->correlation_id_ = entry.event.id;
    result->device_type_ = table.deviceType(entry);
    if (entry.parent == assemble::kNoParent) {
      roots.push_back(result);
    } else {
      result->parent_ = all[entry.parent];
      all[entry.parent]->children_.push_back(result);
    }
    all.push_back(std::move(result));
  }
  return roots;
}

}  // namespace xsigma::profiler
