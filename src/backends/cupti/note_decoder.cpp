#include "backends/cupti/note_decoder.h"

#include <algorithm>
#include <iterator>

#include "backends/cupti/names.h"

namespace xsigma::profiler::backends::cupti {
namespace {

using libkineto::ActivityType;

constexpr size_t kMostHeld = size_t{1} << 16;
constexpr size_t kMostRemembered = size_t{1} << 18;

bool isOfEvent(const SyncRecord& sync) {
  return sync.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE ||
         sync.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
}

// −1 for "none", as readers expect.
int64_t signedId(uint32_t id) { return id == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? -1 : int64_t{id}; }

}  // namespace

void NoteDecoder::put(const SyncRecord& sync) {
  if (!syncs_) return;
  if (!isOfEvent(sync) && rows_.deviceOf(sync.context)) return putNow(sync);
  held_.push_back({sync, period_});
  if (held_.size() <= kMostHeld) return;
  putNow(held_.front().sync);
  held_.pop_front();
}

void NoteDecoder::put(const EventRecord& event) {
  const Recorded recorded{event.correlation, event.stream};
  if (syncs_) {
    std::vector<Recorded>& all = by_event_[{event.context, event.event}];
    all.insert(firstAfter(all, recorded.correlation), recorded);  // nearly always at the end
    if (event.event_sync != 0) by_sync_[event.event_sync] = recorded;
    if (++remembered_ > kMostRemembered) forgetOldEvents();
  }
  if (!events_ || event.time == CUPTI_TIMESTAMP_UNKNOWN) return;
  const uint32_t device = event.has_device ? event.device : rows_.deviceOf(event.context).value_or(0);
  rows_.seen(device, event.has_device ? event.context : CUPTI_INVALID_CONTEXT_ID, event.stream);
  DeviceActivity activity;
  activity.role = DeviceRole::note;
  activity.type = ActivityType::CUDA_EVENT;
  activity.start = event.time;
  activity.end = event.time + 1;
  activity.process_id = device;
  activity.thread_id = event.stream;
  activity.correlation = event.correlation;
  activity.name = output_.text("cudaEvent");
  activity.form = output_.text("\"event_id\": \x01, \"stream\": \x01, \"correlation\": \x01, \"device\": \x01, \"context\": \x01");
  const int64_t values[] = {event.event, event.stream, event.correlation, device, event.context};
  activity.values = values;
  activity.value_count = 5;
  output_.put(activity);
}

void NoteDecoder::tick() {
  while (!held_.empty() && held_.front().period < period_) {
    putNow(held_.front().sync);
    held_.pop_front();
  }
  ++period_;
}

void NoteDecoder::finish() {
  for (const Held& held : held_) putNow(held.sync);
  held_.clear();
}

// CUPTI numbers waits and records alike from 12.8 on; before, it was the last one that came before the wait.
const NoteDecoder::Recorded* NoteDecoder::recordOf(const SyncRecord& sync) const {
  if (sync.event_sync != 0) {
    if (const auto found = by_sync_.find(sync.event_sync); found != by_sync_.end()) return &found->second;
  }
  const auto found = by_event_.find({sync.context, sync.event});
  if (found == by_event_.end()) return nullptr;
  const auto after = firstAfter(found->second, sync.correlation);
  return after == found->second.begin() ? nullptr : &*std::prev(after);
}

std::vector<NoteDecoder::Recorded>::const_iterator NoteDecoder::firstAfter(const std::vector<Recorded>& sorted, uint32_t correlation) {
  return std::upper_bound(sorted.begin(), sorted.end(), correlation,
                          [](uint32_t wanted, const Recorded& each) { return wanted < each.correlation; });
}

void NoteDecoder::forgetOldEvents() {
  by_sync_.clear();
  remembered_ = 0;
  for (auto& [event, all] : by_event_) {
    if (all.size() > 1) all.erase(all.begin(), all.end() - 1);
    remembered_ += all.size();
  }
  if (remembered_ <= kMostRemembered / 2) return;
  by_event_.clear();  // so many events are more than a program waits for
  remembered_ = 0;
}

void NoteDecoder::putNow(const SyncRecord& sync) {
  const uint32_t device = rows_.deviceOf(sync.context).value_or(0);
  const int64_t stream = signedId(sync.stream);
  DeviceActivity activity;
  activity.role = DeviceRole::note;
  activity.type = ActivityType::CUDA_SYNC;
  activity.start = sync.start;
  activity.end = sync.end;
  activity.process_id = device;
  activity.thread_id = stream < 0 ? kNoStreamRow : stream;
  activity.correlation = sync.correlation;
  activity.name = output_.text(syncName(sync.type));
  rows_.seen(device, CUPTI_INVALID_CONTEXT_ID, activity.thread_id);  // where its context is may be a guess

  int64_t values[8];
  uint32_t count = 0;
  values[count++] = activity.name;
  if (isOfEvent(sync)) {
    const Recorded* const record = recordOf(sync);
    values[count++] = record != nullptr ? int64_t{record->stream} : -1;
    values[count++] = record != nullptr ? int64_t{record->correlation} : -1;
    values[count++] = signedId(sync.event);
    activity.form = output_.text(
        "\"cuda_sync_kind\": \x03, \"wait_on_stream\": \x01, \"wait_on_cuda_event_record_corr_id\": \x01, \"wait_on_cuda_event_id\": \x01, "
        "\"stream\": \x01, \"correlation\": \x01, \"device\": \x01, \"context\": \x01");
  } else {
    activity.form = output_.text("\"cuda_sync_kind\": \x03, \"stream\": \x01, \"correlation\": \x01, \"device\": \x01, \"context\": \x01");
  }
  for (const int64_t value : {stream, int64_t{sync.correlation}, int64_t{device}, int64_t{sync.context}}) values[count++] = value;
  activity.values = values;
  activity.value_count = count;
  output_.put(activity);
}

}  // namespace xsigma::profiler::backends::cupti
