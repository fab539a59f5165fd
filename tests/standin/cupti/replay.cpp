#include <cstring>

#include "layouts.h"
#include "library.h"

namespace xsigma::standin {
namespace {

template <typename T>
T valueAt(const std::vector<uint8_t>& record, size_t offset) {
  T value{};
  if (offset + sizeof value <= record.size()) std::memcpy(&value, record.data() + offset, sizeof value);
  return value;
}

template <typename T>
void putAt(std::vector<uint8_t>& record, size_t offset, T value) {
  if (offset + sizeof value <= record.size()) std::memcpy(record.data() + offset, &value, sizeof value);
}

uint32_t kindOf(const std::vector<uint8_t>& record) { return valueAt<uint32_t>(record, 0); }

}  // namespace

uint64_t Library::Times::operator()(uint64_t recorded) const {
  if (as_recorded || recorded == 0 || to <= from) return recorded;
  const long double place = (static_cast<long double>(recorded) - from) / (to - from);
  return static_cast<uint64_t>(static_cast<long double>(now_from) + place * static_cast<long double>(now_to - now_from));
}

Library::Times Library::timesOf(const Play& play) {
  Times times;
  times.now_to = now();
  const std::lock_guard lock(mutex_);
  times.as_recorded = !play.times_of_now;
  times.now_from = enabled_at_;
  for (const recording::ClockReading& reading : recording_.clocks) {
    if (reading.part == play.part) (reading.at_end != 0 ? times.to : times.from) = static_cast<long double>(reading.ticks);
  }
  return times;
}

bool Library::isWanted(const std::vector<uint8_t>& record) {
  const uint32_t kind = kindOf(record);
  const std::lock_guard lock(mutex_);
  if (kind == kUnknownKind) return !seen_.enabled_kinds.empty();
  const bool enabled = seen_.enabled_kinds.count(kind) != 0;
  if (kind != CUPTI_ACTIVITY_KIND_RUNTIME && kind != CUPTI_ACTIVITY_KIND_DRIVER) return enabled;
  const std::pair call{kind, valueAt<uint32_t>(record, offsetof(CUpti_ActivityAPI, cbid))};
  return enabled && calls_off_.count(call) == 0;  // that a call is enabled gives no record of it unless its kind is
}

std::vector<uint8_t> Library::rewritten(const uint8_t* record, size_t bytes, const Play& play, const Times& times) const {
  std::vector<uint8_t> result(record, record + bytes);
  const FieldsOfKind& fields = fieldsOf(kindOf(result));
  if (behaviour_.layouts_of_12_0 && fields.bytes_in_12_0 != 0) result.resize(fields.bytes_in_12_0);
  for (const size_t at : fields.strings) {
    const auto pointer = valueAt<uint64_t>(result, at);
    const auto text = recording_.strings.find(pointer);
    putAt(result, at, text == recording_.strings.end() ? nullptr : text->second.c_str());
  }
  for (const size_t at : fields.times) putAt(result, at, times(valueAt<uint64_t>(result, at)));
  for (const std::vector<size_t>* ids : {&fields.processes, &fields.threads}) {
    for (const size_t at : *ids) {
      const auto other = play.ids.find(valueAt<uint32_t>(result, at));
      if (other != play.ids.end()) putAt(result, at, other->second);
    }
  }
  if (fields.work) result.resize(result.size() + behaviour_.longer_by, 0xEE);
  return result;
}

bool Library::isWork(const std::vector<uint8_t>& record) { return fieldsOf(kindOf(record)).work; }

void Library::withoutTimes(Buffer& buffer) {
  for (const size_t record : buffer.undone) {
    uint32_t kind = 0;
    std::memcpy(&kind, buffer.bytes + record, sizeof kind);
    for (const size_t at : fieldsOf(kind).times) std::memset(buffer.bytes + record + at, 0, sizeof(uint64_t));
  }
}

// A node is its number, so that cuptiGetGraphNodeId can tell it.
void Library::tellOfNodes(uint32_t part, bool captured, bool copied) {
  std::set<uint64_t> origins;
  for (const recording::NodeEvent& node : recording_.nodes) origins.insert(node.origin);
  for (const recording::NodeEvent& node : recording_.nodes) {
    const CUpti_CallbackId cbid = node.cloned != 0 ? CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED : CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED;
    CUpti_CallbackFunc callback = nullptr;
    void* data = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const bool on =
          callbacks_on_.count({CUPTI_CB_DOMAIN_RESOURCE, cbid}) + callbacks_on_.count({CUPTI_CB_DOMAIN_RESOURCE, kEveryCall}) > 0;
      if (on) callback = callback_;
      data = callback_data_;
    }
    if (node.part != part || callback == nullptr || !(origins.count(node.node) != 0 ? captured : copied)) continue;
    CUpti_GraphData graph{};
    graph.node = reinterpret_cast<CUgraphNode>(node.node);
    graph.originalNode = reinterpret_cast<CUgraphNode>(node.origin);
    CUpti_ResourceData resource{};
    resource.resourceDescriptor = &graph;
    callback(data, CUPTI_CB_DOMAIN_RESOURCE, cbid, &resource);
  }
}

void Library::play(const Play& play) {
  const Times times = timesOf(play);
  {
    const std::lock_guard lock(mutex_);
    late_flushes_ = play.late_flushes;
  }
  std::vector<uint8_t> unknown(kUnknownBytes, 0x55);
  putAt(unknown, 0, kUnknownKind);
  for (uint32_t count = 0; count < play.unknown_records; ++count) {
    if (isWanted(unknown)) write(unknown);
  }
  for (int round = 0; round < play.repeat; ++round) {
    if (play.graph_nodes) tellOfNodes(play.part, true, true);
    for (const RecordedBuffer& buffer : recording_.buffers) {
      for (size_t at = 0; buffer.part == play.part && at < buffer.offsets.size(); ++at) {
        const size_t begin = buffer.offsets[at];
        const size_t end = at + 1 < buffer.offsets.size() ? buffer.offsets[at + 1] : buffer.bytes.size();
        const std::vector<uint8_t> record = rewritten(buffer.bytes.data() + begin, end - begin, play, times);
        if (isWanted(record)) write(record);
      }
    }
  }
}

}  // namespace xsigma::standin
