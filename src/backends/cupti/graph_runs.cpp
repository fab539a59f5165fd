#include "backends/cupti/graph_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace xsigma::profiler::backends::cupti {

void GraphRuns::add(const WorkRecord& node, Node kind, bool over) {
  if (open_.size() >= kMostOpen) {
    finish();
  } else if (open_.size() >= kManyOpen && swept_ != period_) {
    swept_ = period_;
    putBefore(period_);
  }
  const auto [found, is_first] = open_.try_emplace(uint64_t{node.device} << 32 | node.correlation);
  Run& run = found->second;
  if (is_first) run.work = node;
  ++run.nodes[kind];
  run.touched = period_;
  run.over = run.over && over;
  if (!over) return;
  if (node.start < run.work.start) {
    run.work.start = node.start;
    run.work.stream = node.stream;
  }
  run.work.end = std::max(run.work.end, node.end);
}

void GraphRuns::tick() {
  ++period_;
  if (period_ > kWholeAfter) putBefore(period_ - kWholeAfter);
}

void GraphRuns::finish() { putBefore(period_ + 1); }

void GraphRuns::putBefore(uint64_t period) {
  for (auto run = open_.begin(); run != open_.end();) {
    if (run->second.touched >= period) {
      ++run;
      continue;
    }
    put(run->second);
    run = open_.erase(run);
  }
}

void GraphRuns::put(const Run& run) {
  if (form_ == 0) {
    form_ = output_.text(
        "\"device\": \x01, \"context\": \x01, \"stream\": \x01, \"correlation\": \x01, \"graph id\": \x01, \"kernels\": \x01, \"copies\": "
        "\x01, \"fills\": \x01");
  }
  const WorkRecord& work = run.work;
  const int64_t values[] = {work.device, work.context,       work.stream,      work.correlation,
                            work.graph,  run.nodes[kKernel], run.nodes[kCopy], run.nodes[kFill]};
  DeviceActivity activity;
  activity.role = run.over ? DeviceRole::work : DeviceRole::pending;
  activity.type = libkineto::ActivityType::CONCURRENT_KERNEL;
  activity.name = output_.text(fmt::format("CUDA graph {}", work.graph));
  activity.form = form_;
  activity.start = run.over ? work.start : 0;
  activity.end = run.over ? work.end : 0;
  activity.process_id = work.device;
  activity.thread_id = work.stream;
  activity.correlation = work.correlation;
  activity.values = values;
  activity.value_count = static_cast<uint32_t>(std::size(values));
  output_.put(activity);
}

}  // namespace xsigma::profiler::backends::cupti
