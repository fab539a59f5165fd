#include "backends/cupti/work_decoder.h"

#include <fmt/format.h>

#include <bit>

#include "backends/cupti/names.h"
#include "backends/cupti/occupancy.h"

namespace xsigma::profiler::backends::cupti {
namespace {

using libkineto::ActivityType;

// Which members a form has, beside those that all have.
enum FormPart : uint32_t { kGraph = 1, kChannel = 2, kPriority = 4, kOccupancy = 8, kPeer = 8, kKernelForms = 16 };

// The values of one activity, in the order of its form.
class Values {
 public:
  void integer(int64_t value) { all_[count_++] = value; }
  void real(double value) { integer(std::bit_cast<int64_t>(value)); }
  const int64_t* data() const { return all_.data(); }
  size_t size() const { return count_; }

 private:
  std::array<int64_t, 40> all_{};
  size_t count_ = 0;
};

void addTail(const WorkRecord& work, uint32_t parts, Values& values) {
  if ((parts & kGraph) != 0) {
    values.integer(work.graph);
    values.integer(static_cast<int64_t>(work.graph_node));
  }
}

void addChannel(const WorkRecord& work, uint32_t parts, Values& values) {
  if ((parts & kChannel) != 0) {
    values.integer(work.channel);
    values.integer(work.channel_type);
  }
}

uint32_t partsOf(const WorkRecord& work) {
  uint32_t parts = 0;
  if (work.graph != 0 || work.graph_node != 0) parts |= kGraph;
  if (work.channel_type != CUPTI_CHANNEL_TYPE_INVALID) parts |= kChannel;
  return parts;
}

constexpr std::string_view kGraphForm = ", \"graph id\": \x01, \"graph node id\": \x01";
constexpr std::string_view kChannelForm = ", \"channel\": \x01, \"channel_type\": \x01";

std::string kernelForm(uint32_t parts) {
  std::string form =
      "\"queued\": \x01, \"device\": \x01, \"context\": \x01, \"stream\": \x01, \"correlation\": \x01, \"registers per thread\": \x01, "
      "\"shared memory\": \x01";
  if ((parts & kOccupancy) != 0) form += ", \"blocks per SM\": \x02, \"warps per SM\": \x02";
  form += ", \"grid\": [\x01, \x01, \x01], \"block\": [\x01, \x01, \x01]";
  if ((parts & kOccupancy) != 0) {
    form +=
        ", \"est. achieved occupancy %\": \x01, \"occupancy\": {\"activeBlocksPerMultiprocessor\": \x01, \"limitingFactors\": \x03, "
        "\"blockLimitRegs\": \x01, \"blockLimitSharedMem\": \x01, \"blockLimitWarps\": \x01, \"blockLimitBlocks\": \x01, "
        "\"blockLimitBarriers\": \x01, \"allocatedRegistersPerBlock\": \x01, \"allocatedSharedMemPerBlock\": \x01}";
  }
  if ((parts & kGraph) != 0) form += kGraphForm;
  if ((parts & kPriority) != 0) form += ", \"priority\": \x01";
  if ((parts & kChannel) != 0) form += kChannelForm;
  return form;
}

std::string copyForm(uint32_t parts) {
  std::string form = (parts & kPeer) != 0 ? "\"fromDevice\": \x01, \"inDevice\": \x01, \"toDevice\": \x01, \"fromContext\": \x01, "
                                            "\"inContext\": \x01, \"toContext\": \x01, "
                                          : "\"device\": \x01, \"context\": \x01, ";
  form += "\"stream\": \x01, \"correlation\": \x01, \"bytes\": \x01, \"memory bandwidth (GB/s)\": \x04";
  if ((parts & kGraph) != 0) form += kGraphForm;
  if ((parts & kChannel) != 0) form += kChannelForm;
  return form;
}

bool hasNoTimes(const WorkRecord& work) { return work.start == CUPTI_TIMESTAMP_UNKNOWN || work.end == CUPTI_TIMESTAMP_UNKNOWN; }

}  // namespace

bool WorkDecoder::putNode(const WorkRecord& work, GraphRuns::Node kind) {
  const bool unknown = hasNoTimes(work);
  if (unknown && !incomplete_) return false;
  rows_.seen(work.device, work.context, work.stream);
  graph_runs_.add(work, kind, !unknown);
  return true;
}

bool WorkDecoder::put(const WorkRecord& work, DeviceActivity& activity, const int64_t* values, size_t count) {
  const bool unknown = hasNoTimes(work);
  if (unknown && !incomplete_) return false;
  rows_.seen(work.device, work.context, work.stream);
  activity.role = unknown ? DeviceRole::pending : DeviceRole::work;
  activity.start = work.start;
  activity.end = work.end;
  activity.process_id = work.device;
  activity.thread_id = work.stream;
  activity.correlation = work.correlation;
  activity.node = work.graph_node;
  activity.values = values;
  activity.value_count = static_cast<uint32_t>(count);
  output_.put(activity);
  return true;
}

uint32_t WorkDecoder::kernelName(const char* mangled) {
  const std::string_view key = mangled != nullptr ? mangled : "";
  if (const auto found = kernel_names_.find(key); found != kernel_names_.end()) return found->second;
  const uint32_t name = output_.text(demangled(mangled));
  if (name != 0) kernel_names_.emplace(key, name);
  return name;
}

bool WorkDecoder::put(const KernelRecord& kernel) {
  if (belongsToWholeGraph(kernel.work)) return putNode(kernel.work, GraphRuns::kKernel);
  const DeviceFacts* const device = rows_.facts(kernel.work.device);
  uint32_t parts = partsOf(kernel.work);
  if (kernel.has_priority) {
    parts |= kPriority;
    if (kernel.priority != 0) rows_.prioritized(kernel.work.device, kernel.work.stream, kernel.priority);
  }
  if (device != nullptr && device->sms > 0) parts |= kOccupancy;

  Values values;
  values.integer(static_cast<int64_t>(kernel.queued));
  values.integer(kernel.work.device);
  values.integer(kernel.work.context);
  values.integer(kernel.work.stream);
  values.integer(kernel.work.correlation);
  values.integer(kernel.registers);
  values.integer(kernel.shared_static + kernel.shared_dynamic);
  const int64_t threads = int64_t{kernel.block[0]} * kernel.block[1] * kernel.block[2];
  double blocks_per_sm = 0;
  if ((parts & kOccupancy) != 0) {
    blocks_per_sm = static_cast<double>(kernel.grid[0]) * kernel.grid[1] * kernel.grid[2] / device->sms;
    values.real(blocks_per_sm);
    values.real(blocks_per_sm * static_cast<double>(threads) / (device->warp_size > 0 ? device->warp_size : 32));
  }
  for (const int32_t size : kernel.grid) values.integer(size);
  for (const int32_t size : kernel.block) values.integer(size);
  if ((parts & kOccupancy) != 0) {
    const Occupancy occupancy = occupancyOf(*device, {.threads_per_block = threads,
                                                      .registers_per_thread = kernel.registers,
                                                      .shared_bytes = kernel.shared_static + kernel.shared_dynamic});
    uint32_t& factors = factor_names_[occupancy.factors % Occupancy::kFactors];
    if (factors == 0) factors = output_.text(factorNames(occupancy.factors));
    values.integer(achievedPercent(*device, occupancy, blocks_per_sm, threads));
    values.integer(occupancy.active_blocks);
    values.integer(factors);
    values.integer(occupancy.limit_registers);
    values.integer(occupancy.limit_shared);
    values.integer(occupancy.limit_warps);
    values.integer(occupancy.limit_blocks);
    values.integer(occupancy.limit_barriers);
    values.integer(occupancy.registers_per_block);
    values.integer(occupancy.shared_per_block);
  }
  addTail(kernel.work, parts, values);
  if ((parts & kPriority) != 0) values.integer(kernel.priority);
  addChannel(kernel.work, parts, values);

  DeviceActivity activity;
  activity.type = ActivityType::CONCURRENT_KERNEL;
  activity.name = kernelName(kernel.name);
  uint32_t& form = kernel_forms_[parts];
  if (form == 0) form = output_.text(kernelForm(parts));
  activity.form = form;
  return put(kernel.work, activity, values.data(), values.size());
}

bool WorkDecoder::put(const CopyRecord& copy) {
  if (belongsToWholeGraph(copy.work)) return putNode(copy.work, GraphRuns::kCopy);
  const uint32_t parts = partsOf(copy.work) | (copy.peer ? uint32_t{kPeer} : 0);
  Values values;
  if (copy.peer) {
    for (const uint32_t value :
         {copy.source_device, copy.work.device, copy.target_device, copy.source_context, copy.work.context, copy.target_context}) {
      values.integer(value);
    }
  } else {
    values.integer(copy.work.device);
    values.integer(copy.work.context);
  }
  values.integer(copy.work.stream);
  values.integer(copy.work.correlation);
  values.integer(static_cast<int64_t>(copy.bytes));
  values.integer(static_cast<int64_t>(copy.bytes));
  addTail(copy.work, parts, values);
  addChannel(copy.work, parts, values);

  DeviceActivity activity;
  activity.type = ActivityType::GPU_MEMCPY;
  uint32_t& name = copy_names_[uint32_t{copy.kind} << 16 | uint32_t{copy.source} << 8 | copy.target];
  if (name == 0) name = output_.text(copyName(copy.kind, copy.source, copy.target));
  activity.name = name;
  uint32_t& form = copy_forms_[parts];
  if (form == 0) form = output_.text(copyForm(parts));
  activity.form = form;
  return put(copy.work, activity, values.data(), values.size());
}

bool WorkDecoder::put(const FillRecord& fill) {
  if (belongsToWholeGraph(fill.work)) return putNode(fill.work, GraphRuns::kFill);
  const uint32_t parts = partsOf(fill.work);
  Values values;
  values.integer(fill.work.device);
  values.integer(fill.work.context);
  values.integer(fill.work.stream);
  values.integer(fill.work.correlation);
  values.integer(static_cast<int64_t>(fill.bytes));
  values.integer(static_cast<int64_t>(fill.bytes));
  addTail(fill.work, parts, values);
  addChannel(fill.work, parts, values);

  DeviceActivity activity;
  activity.type = ActivityType::GPU_MEMSET;
  uint32_t& name = fill_names_[fill.memory_kind];
  if (name == 0) name = output_.text(fillName(fill.memory_kind));
  activity.name = name;
  uint32_t& form = copy_forms_[parts];
  if (form == 0) form = output_.text(copyForm(parts));
  activity.form = form;
  return put(fill.work, activity, values.data(), values.size());
}

}  // namespace xsigma::profiler::backends::cupti
