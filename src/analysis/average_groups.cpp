#include "analysis/average_groups.h"

#include <fmt/format.h>

namespace xsigma::profiler::analysis {
namespace {

constexpr std::string_view kStep = "ProfilerStep#";

std::string shownName(std::string_view name) { return name.substr(0, kStep.size()) == kStep ? "ProfilerStep*" : std::string(name); }

void appendShape(std::string& out, const RecordedInput& input) {
  out += '[';
  if (input.kind == InputValue::Kind::tensor) {
    for (size_t i = 0; i < input.sizes.size(); ++i) out += (i != 0 ? ", " : "") + fmt::to_string(input.sizes[i]);
  } else {
    for (size_t i = 0; i < input.items.size(); ++i) {
      if (i != 0) out += ", ";
      appendShape(out, input.items[i]);
    }
  }
  out += ']';
}

std::string shapesOf(const EventDetails* details) {
  if (details == nullptr || details->inputs.words == nullptr) return {};
  std::vector<RecordedInput> inputs;
  decodeInputs(details->inputs, inputs);
  std::string out = "[";
  for (const RecordedInput& input : inputs) {
    if (out.size() > 1) out += ", ";
    appendShape(out, input);
  }
  return out + "]";
}

}  // namespace

void AverageGroups::open(const assemble::EventTable& table) {
  table_ = &table;
  known_.clear();
}

uint32_t AverageGroups::remember(size_t place, uint32_t group) {
  if (place >= known_.size()) known_.resize(place + 64, kUnknown);
  return known_[place] = group;
}

uint32_t AverageGroups::rowOf(KeyAverage&& row) {
  std::string key;
  key += static_cast<char>(row.device);
  key += static_cast<char>(row.is_user_annotation);
  key += static_cast<char>(row.is_async);
  const auto add = [&key](std::string_view part) {
    key += part;
    key += '\0';
  };
  add(row.name);
  add(row.input_shapes);
  add(row.thread);
  for (const std::string& frame : row.stack) add(frame);
  const auto [found, is_new] = by_key_.emplace(std::move(key), static_cast<uint32_t>(rows_.size()));
  if (is_new) rows_.push_back(std::move(row));
  return found->second;
}

uint32_t AverageGroups::find(const Entry& entry) {
  using libkineto::ActivityType;
  KeyAverage row;
  row.name = shownName(table_->trace->name(entry.event.name).text);
  row.device = deviceTypeFromActivity(entry.event.type);
  row.is_user_annotation = entry.event.type == ActivityType::USER_ANNOTATION || entry.event.type == ActivityType::GPU_USER_ANNOTATION;
  row.is_async = entry.event.kind == TraceEventKind::async_slice || table_->row(entry).beside;
  if (by_.input_shapes) row.input_shapes = shapesOf(entry.details);
  describePlace(entry, row);
  return rowOf(std::move(row));
}

void AverageGroups::describePlace(const Entry& entry, KeyAverage& row) const {
  if (by_.thread) {
    const TraceRow& thread = table_->row(entry);
    row.thread = thread.name.empty() ? fmt::to_string(thread.thread_id) : fmt::format("{} ({})", thread.name, thread.thread_id);
  }
  if (by_.stack_frames != 0) row.stack = assemble::stackOf(*table_, entry, by_.stack_frames);
}

uint32_t AverageGroups::ofLooseMemory(const Entry& entry) {
  KeyAverage row;
  row.name = "[memory]";
  describePlace(entry, row);
  return rowOf(std::move(row));
}

}  // namespace xsigma::profiler::analysis
