#include "analysis/key_averages.h"

#include <algorithm>
#include <atomic>

#include "base/ordered_work.h"
#include "xsigma/profiler/flops.h"

namespace xsigma::profiler {
namespace analysis {

using assemble::EventTable;
using assemble::isOfDevice;

namespace {

bool wasAsked(const Trace& trace, std::string_view key) {
  const std::vector<CaptureProperty>& properties = trace.info().properties;
  return std::any_of(properties.begin(), properties.end(), [&](const CaptureProperty& each) { return each.key == key; });
}

}  // namespace

AverageCount::Tally& AverageCount::tallyOf(uint32_t group) {
  if (group >= tallies_.size()) [[unlikely]]
    tallies_.resize(std::max<size_t>(group + size_t{1}, tallies_.size() * 2));
  return tallies_[group];
}

AverageCount::Thread& AverageCount::openThread(uint32_t row) {
  const TraceRow& place = table_->totals.rows[row];
  if (!place.beside) contents_->threads.emplace(place.process_id, place.thread_id);
  if (unused_.empty()) unused_.push_back(std::make_unique<Thread>());
  threads_[row] = std::move(unused_.back());
  unused_.pop_back();
  return *threads_[row];
}

// A thread that has ended leaves its place to the next: memory grows with those that run at once.
void AverageCount::release(uint32_t row) {
  if (threads_[row] == nullptr) return;
  while (!threads_[row]->stack.empty()) leave(*threads_[row]);
  threads_[row]->covered_until_ns.clear();
  unused_.push_back(std::move(threads_[row]));
}

void AverageCount::add(const EventTable& table) {
  table_ = &table;
  groups_.open(table);
  // Sessions say whether they were asked to; a recording by hand keeps shapes for whoever wants them.
  with_flops_ = wasAsked(*table.trace, "with_flops") || !wasAsked(*table.trace, "record_shapes");
  start_ns_ = table.trace->info().start_ns;
  end_ns_ = table.totals.end_ns;
  contents_->wall_ns += end_ns_ - start_ns_;
  contents_->complete &= table.totals.complete;
  threads_.resize(table.totals.rows.size());
  device_entries_.clear();
  for (const TraceRow& row : table.totals.rows) {
    if (row.logical_id != 0) contents_->threads.emplace(row.process_id, row.thread_id);
  }
  for (uint32_t i = 0; i < table.entries.size(); ++i) {
    const Entry& entry = table.entries[i];
    count(i, entry);
    if (table.last_of_row[entry.event.row] == i) [[unlikely]]
      release(entry.event.row);
  }
  countDevices();
}

inline void AverageCount::count(uint32_t index, const Entry& entry) {
  const bool is_given = (entry.event.flags & kEventGiven) != 0;
  switch (entry.event.kind) {
    case TraceEventKind::slice:
    case TraceEventKind::async_slice:
      if (is_given && isOfDevice(entry.event)) {
        device_entries_.push_back(index);
      } else if (entry.event.kind == TraceEventKind::slice && !(is_given && table_->row(entry).beside)) {
        enter(threadOf(entry.event.row), index);
      } else {
        countAsync(threadOf(entry.event.row), entry);
      }
      return;
    case TraceEventKind::memory:
      if (entry.details != nullptr) allocate(threadOf(entry.event.row), entry);
      return;
    default: return;
  }
}

// Who gives events has a clock of its own: what lies outside of the recording counts nowhere.
inline AverageCount::Span AverageCount::spanOf(const Entry& entry) const {
  const Span whole{entry.event.start_ns, entry.endNs()};
  if ((entry.event.flags & kEventGiven) == 0) return whole;
  return {std::clamp(whole.start_ns, start_ns_, end_ns_), std::clamp(whole.end_ns, start_ns_, end_ns_)};
}

// Leaves what is not around the entry. Asynchronous scopes are around nothing; what has no parent on the stack may still lie inside of what is left there.
void AverageCount::unwindTo(Thread& thread, const Entry& entry) {
  uint32_t parent = entry.parent;
  if (!thread.stack.empty() && thread.stack.back().entry == parent) return;
  const auto is_around = [&](const Entry& outer) { return outer.event.kind == TraceEventKind::slice && outer.endNs() >= entry.endNs(); };
  while (parent != assemble::kNoParent && !is_around(table_->entries[parent])) parent = table_->entries[parent].parent;
  while (!thread.stack.empty() && (parent == assemble::kNoParent || thread.stack.back().entry > parent)) leave(thread);
  while (!thread.stack.empty() && thread.stack.back().entry != parent && table_->entries[thread.stack.back().entry].endNs() < entry.endNs())
    leave(thread);
}

inline AverageCount::Tally& AverageCount::called(const Entry& entry, uint32_t group, int64_t duration_ns) {
  Tally& tally = tallyOf(group);
  ++tally.calls;
  tally.unfinished += (entry.event.flags & kEventUnfinished) != 0;
  tally.durations.add(duration_ns);
  if (with_flops_) addFlops(entry, tally);
  return tally;
}

void AverageCount::addFlops(const Entry& entry, Tally& tally) {
  if (entry.details == nullptr || entry.details->inputs.words == nullptr) return;
  std::vector<RecordedInput> inputs;
  decodeInputs(entry.details->inputs, inputs);
  tally.flops += flopsOf(table_->trace->name(entry.event.name).text, inputs);
}

void AverageCount::enter(Thread& thread, uint32_t index) {
  const Entry& entry = table_->entries[index];
  unwindTo(thread, entry);
  const uint32_t group = groups_.of(entry);
  const Span span = spanOf(entry);
  const int64_t duration_ns = span.end_ns - span.start_ns;
  called(entry, group, duration_ns).is_top_level |= thread.stack.empty();
  if (group >= thread.open.size()) [[unlikely]]
    thread.open.resize(group + size_t{16});
  ++thread.open[group];
  thread.stack.push_back({index, group, duration_ns, 0, {}});
}

void AverageCount::leave(Thread& thread) {
  const Frame& frame = thread.stack.back();
  Frame* const around = thread.stack.size() > 1 ? &thread.stack.back() - 1 : nullptr;
  Tally& tally = tallies_[frame.group];
  const bool is_outermost = --thread.open[frame.group] == 0;  // of those that call themselves
  base::addTo(tally.self_ns, frame.duration_ns - frame.inside_ns);
  if (is_outermost) base::addTo(tally.total_ns, frame.duration_ns);
  if (around != nullptr) base::addTo(around->inside_ns, frame.duration_ns);
  if (contents_->has_memory) {
    if (is_outermost) tally.total_bytes += frame.bytes;
    if (around != nullptr) around->bytes += frame.bytes;
  }
  thread.stack.pop_back();
}

void AverageCount::allocate(Thread& thread, const Entry& entry) {
  unwindTo(thread, entry);
  contents_->has_memory = true;
  const bool on_cpu = entry.details->device.type == DeviceType::CPU;
  if (!on_cpu) contents_->device = entry.details->device.type;
  const auto add = [&](Bytes& bytes) { base::addTo(on_cpu ? bytes.cpu : bytes.device, entry.details->bytes); };
  if (!thread.stack.empty()) {
    add(tallyOf(thread.stack.back().group).self_bytes);
    add(thread.stack.back().bytes);
    return;
  }
  Tally& loose = tallyOf(groups_.ofLooseMemory(entry));
  ++loose.calls;
  loose.is_top_level = true;
  add(loose.self_bytes);
  add(loose.total_bytes);
}

// They come by start: what the earlier ones of the thread have covered is not counted again.
void AverageCount::countAsync(Thread& thread, const Entry& entry) {
  const uint32_t group = groups_.of(entry);
  const Span span = spanOf(entry);
  Tally& tally = called(entry, group, span.end_ns - span.start_ns);
  tally.is_top_level |= entry.parent == assemble::kNoParent;
  if (group >= thread.covered_until_ns.size()) thread.covered_until_ns.resize(group + size_t{16}, INT64_MIN);
  int64_t& covered_ns = thread.covered_until_ns[group];
  if (span.end_ns <= covered_ns) return;
  base::addTo(tally.total_ns, span.end_ns - std::max(span.start_ns, covered_ns));
  covered_ns = span.end_ns;
}

void AverageCount::countDevices() {
  device_time_.add(*table_, device_entries_, groups_);
  for (const uint32_t index : device_entries_) {
    const Entry& entry = table_->entries[index];
    contents_->device = deviceTypeFromActivity(entry.event.type);
    called(entry, groups_.of(entry), entry.event.duration_ns).is_top_level = true;
  }
}

std::shared_ptr<const KeyAverages::Contents> AverageCount::finish() {
  contents_->rows = std::move(groups_.rows());
  contents_->device_busy_ns = device_time_.settle(contents_->rows);
  tallies_.resize(contents_->rows.size());
  uint64_t calls = 0;
  for (const Tally& tally : tallies_) calls += tally.calls;
  constexpr uint64_t kWorthThreads = 1'000'000;
  std::atomic<size_t> next{0};
  base::runOnWorkers(calls < kWorthThreads ? 1 : base::usefulWorkers(), [&](unsigned) {
    for (size_t group = next++; group < tallies_.size(); group = next++) fill(contents_->rows[group], tallies_[group]);
  });
  for (const KeyAverage& row : contents_->rows) {
    base::addTo(contents_->self_cpu_ns, row.self_cpu_ns);
    contents_->unfinished += row.unfinished;
  }
  return contents_;
}

void AverageCount::fill(KeyAverage& row, Tally& tally) {
  row.calls = tally.calls;
  row.unfinished = tally.unfinished;
  row.is_top_level = tally.is_top_level;
  row.self_cpu_ns = tally.self_ns;
  row.cpu_total_ns = tally.total_ns;
  row.self_cpu_bytes = tally.self_bytes.cpu;
  row.cpu_bytes = tally.total_bytes.cpu;
  row.self_device_bytes = tally.self_bytes.device;
  row.device_bytes = tally.total_bytes.device;
  row.flops = tally.flops;
  row.durations = tally.durations.statistics();
  tally.durations = {};
}

}  // namespace analysis

KeyAverages::KeyAverages() : contents_(std::make_shared<Contents>()) {}
KeyAverages::KeyAverages(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

const std::vector<KeyAverage>& KeyAverages::rows() const& { return contents_->rows; }

const KeyAverage& KeyAverages::at(std::string_view name) const& {
  for (const KeyAverage& row : contents_->rows) {
    if (row.name == name) return row;
  }
  throw ProfilerError("no row of the averages is called '" + std::string(name) + "'. rows() has all that were recorded");
}

int64_t KeyAverages::selfCpuTotalNs() const { return contents_->self_cpu_ns; }
int64_t KeyAverages::deviceBusyNs() const { return contents_->device_busy_ns; }
int64_t KeyAverages::wallNs() const { return contents_->wall_ns; }
uint64_t KeyAverages::threads() const { return contents_->threads.size(); }
uint64_t KeyAverages::unfinished() const { return contents_->unfinished; }
uint64_t KeyAverages::lost() const { return contents_->lost; }
uint64_t KeyAverages::lostOfDevices() const { return contents_->lost_of_devices; }

KeyAverages keyAverages(const std::vector<Capture>& captures, const GroupBy& group_by) {
  analysis::AverageCount count(group_by);
  for (const Capture& capture : captures) {
    const std::shared_ptr<assemble::EventTable> table = assemble::tabulate(assembleTrace(capture));
    count.add(*table);
    count.addLost(table->trace->ledger());
  }
  return KeyAverages(count.finish());
}

KeyAverages keyAverages(const Capture& capture, const GroupBy& group_by) { return keyAverages(std::vector<Capture>{capture}, group_by); }

}  // namespace xsigma::profiler
