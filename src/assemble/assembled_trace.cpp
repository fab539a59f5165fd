#include "assemble/assembled_trace.h"

#include <algorithm>
#include <optional>

#include "assemble/batch_memory.h"
#include "assemble/settle.h"
#include "capture/device_codec.h"
#include "base/deadline.h"
#include "base/json_text.h"
#include "base/ordered_work.h"

namespace xsigma::profiler::assemble {
namespace {

constexpr size_t kBatchEvents = 4096;
constexpr size_t kMostLanes = 16;
constexpr std::string_view kUnknownName = "<name not in the capture>";

std::vector<base::LoadedModule> modulesOf(const capture::Tables& tables) {
  std::vector<base::LoadedModule> modules;
  for (const capture::Tables::Module& module : tables.modules()) {
    modules.push_back({std::string(module.path), module.start, module.end, module.bias, std::string(module.build_id)});
  }
  return modules;
}

// The threads that one lane reads, one after the other.
class Lane {
 public:
  Lane(const Capture::Source& source, const std::vector<ThreadPart>& parts, const std::vector<TraceRow>& rows, int64_t realtime_offset_ns, bool with_modules,
       DeviceEvents& devices, size_t first, size_t step)
      : source_(source), parts_(parts), rows_(rows), realtime_offset_ns_(realtime_offset_ns), with_modules_(with_modules), devices_(devices), next_(first), step_(step) {}

  // False once the last thread is read. What threads leave behind goes to leftovers, by part.
  bool fill(EventBatch& batch, std::vector<Leftovers>& leftovers) {
    clearBatch(batch);
    while (batch.events.size() < kBatchEvents) {
      if (!stream_) {
        if (next_ >= parts_.size()) break;
        stream_.emplace(source_, parts_[next_], rows_[parts_[next_].row], realtime_offset_ns_, with_modules_);
        stream_->setGuests(devices_);
      }
      const size_t before = batch.events.size();
      const bool more = stream_->fill(batch, kBatchEvents);
      events_ += batch.events.size() - before;
      if (!more) finishStream(leftovers);
    }
    return !batch.events.empty();
  }
  // The deadline has come: what the open thread has so far counts.
  void abandon(std::vector<Leftovers>& leftovers) {
    if (stream_) finishStream(leftovers);
  }
  bool atEnd() const { return !stream_ && next_ >= parts_.size(); }

 private:
  void finishStream(std::vector<Leftovers>& leftovers) {
    Leftovers& left = leftovers[parts_[next_].row];
    left = stream_->finish();
    left.events = events_;
    events_ = 0;
    stream_.reset();
    next_ += step_;
  }

  const Capture::Source& source_;
  const std::vector<ThreadPart>& parts_;
  const std::vector<TraceRow>& rows_;
  int64_t realtime_offset_ns_;
  bool with_modules_;
  DeviceEvents& devices_;
  size_t next_;
  size_t step_;
  uint64_t events_ = 0;
  std::optional<ThreadStream> stream_;
};

}  // namespace

AssembledTrace::AssembledTrace(const Capture& capture, std::shared_ptr<const Capture::Source> source)
    : capture_(capture), source_(std::move(source)), symbolizer_(modulesOf(source_->contents().tables)) {
  const CaptureInfo& about = capture.info();
  realtime_offset_ns_ = about.start_unix_ns - about.start_monotonic_ns;
  info_.process_id = about.process_id;
  info_.start_ns = about.start_unix_ns;
  info_.end_ns = about.closed ? about.stop_monotonic_ns + realtime_offset_ns_ : about.start_unix_ns;
  info_.source = about.path;
  info_.properties = capture.properties();
  info_.clock_is_system = about.counter_is_clock;
  for (const CaptureProperty& property : info_.properties) {
    if (property.key == "verbose") info_.verbose = true;
    if (property.key == "with_modules") info_.with_modules = true;
    if (property.key == "disable_external_correlation") info_.unlinked = true;
    if (property.key == "performance_events") info_.performance_events = base::jsonTexts(property.json);
  }
  for (const ThreadInfo& thread : capture.threads()) rows_.push_back({about.process_id, thread.system_id, thread.logical_id, thread.name, false, capture::isDeviceThread(thread)});
  findParts();
}

void AssembledTrace::findParts() {
  const std::vector<capture::Segment>& segments = source_->contents().segments;
  std::map<uint32_t, uint32_t> nameless;  // threads whose entry is damaged
  uint64_t ordinal = 0;
  for (size_t at = 0; at < segments.size();) {
    ThreadPart part;
    part.first = &segments[at];
    part.first_ordinal = ordinal;
    const uint32_t thread = segments[at].thread;
    part.row = thread;
    if (thread >= rows_.size() && nameless.try_emplace(thread, static_cast<uint32_t>(rows_.size())).second) {
      constexpr int64_t kNamelessThreads = 0xE0000000;
      rows_.push_back({info_.process_id, kNamelessThreads + static_cast<int64_t>(nameless.size()), 0, "its entry in the capture is damaged"});
    }
    if (const auto found = nameless.find(thread); found != nameless.end()) part.row = found->second;
    part.first_ns = source_->contents().clock.toMonotonicNs(segments[at].base_ticks) + realtime_offset_ns_;
    for (; at < segments.size() && segments[at].thread == thread; ++at) ordinal += segments[at].begins;
    part.last = segments.data() + at;
    if (!rows_[part.row].hidden) parts_.push_back(part);
  }
}

const Ledger& AssembledTrace::ledger() const {
  std::call_once(counted_, [this] { ledger_ = capture_.ledger(); });
  return ledger_;
}

TraceName AssembledTrace::name(uint32_t id) const {
  const capture::Tables::ResolvedSite* const site = source_->contents().tables.site(id);
  if (site == nullptr) return {kUnknownName, {}, 0, RecordScope::FUNCTION};
  return {site->name, site->file, site->line, site->scope};
}

std::vector<std::string> AssembledTrace::stack(uint32_t id) const {
  std::vector<std::string> frames;
  for (const uint64_t address : source_->contents().tables.stack(id)) frames.push_back(symbolizer_.describe(address));
  // Our own functions are innermost; without symbols they are known by the library's name.
  const auto ours = [](const std::string& frame) {
    constexpr std::string_view kOurs[] = {"xsigma::profiler::instrument::", "xsigma::profiler::detail::", "xsigma::profiler::RecordFunction"};
    if (frame.find(" (libxsigma_profiler.so") != std::string::npos) return true;
    const std::string_view function = std::string_view(frame).substr(0, frame.find('('));
    return std::any_of(std::begin(kOurs), std::end(kOurs), [&](std::string_view each) { return function.find(each) != std::string_view::npos; });
  };
  frames.erase(frames.begin(), std::find_if_not(frames.begin(), frames.end(), ours));
  return frames;
}

TraceTotals AssembledTrace::visit(TraceVisitor& visitor, const VisitOptions& options) const {
  const unsigned workers = options.workers != 0 ? options.workers : base::usefulWorkers();
  const size_t lane_count = std::min(parts_.size(), kMostLanes);
  const base::Deadline deadline(options.deadline);
  DeviceEvents devices(*source_, realtime_offset_ns_, deadline);
  devices.assignGuests(rows_, parts_);
  std::vector<Lane> lanes;
  lanes.reserve(lane_count);
  for (size_t i = 0; i < lane_count; ++i) lanes.emplace_back(*source_, parts_, rows_, realtime_offset_ns_, info_.with_modules, devices, i, lane_count);
  std::vector<Leftovers> leftovers(rows_.size());

  std::vector<EventBatch> batches(base::orderedPlaces(workers));
  visitor.start(workers, batches.size());
  bool enough = false;
  base::runOrdered(lane_count, workers,
                   {[&](size_t lane, size_t place) {
                      if (deadline.passed()) return false;
                      batches[place].rows = &rows_;
                      return lanes[lane].fill(batches[place], leftovers);
                    },
                    [&](unsigned worker, size_t place) { visitor.prepare(worker, place, batches[place]); },
                    [&](size_t place) { return !(enough = !visitor.accept(place)); }});

  TraceTotals totals;
  totals.rows = rows_;
  for (Lane& lane : lanes) {
    totals.complete &= lane.atEnd();
    lane.abandon(leftovers);
  }
  if (enough) {
    totals.complete = false;
    return totals;
  }
  EventBatch& last = batches.front();
  clearBatch(last);
  settleLeftovers(info_, leftovers, devices, source_->contents().tables, last, totals, [&](bool at_end) {
    if (last.events.empty() || (!at_end && last.events.size() < kBatchEvents)) return;
    if (!enough) {
      last.rows = &totals.rows;
      visitor.prepare(0, 0, last);
      enough = !visitor.accept(0);
    }
    clearBatch(last);
  });
  totals.complete &= !enough;
  return totals;
}

}  // namespace xsigma::profiler::assemble

namespace xsigma::profiler {

TraceVisitor::~TraceVisitor() = default;
Trace::~Trace() = default;

TraceTotals Trace::forEachBatch(const std::function<void(EventBatch&)>& each, std::chrono::nanoseconds deadline) const {
  struct Visitor final : TraceVisitor {
    explicit Visitor(const std::function<void(EventBatch&)>& visit) : visit_(visit) {}
    void start(unsigned, size_t) override {}
    void prepare(unsigned, size_t, EventBatch& batch) override { visit_(batch); }
    bool accept(size_t) override { return true; }
    const std::function<void(EventBatch&)>& visit_;
  } visitor(each);
  return visit(visitor, {1, deadline});
}

std::shared_ptr<const Trace> assembleTrace(const Capture& capture) {
  return std::make_shared<assemble::AssembledTrace>(capture, capture.source());
}

}  // namespace xsigma::profiler
