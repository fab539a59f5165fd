#include "analysis/average_order.h"

#include <fmt/format.h>

#include <algorithm>

namespace xsigma::profiler::analysis {
namespace {

struct SortKey {
  std::string_view name;
  double (*value)(const KeyAverage&);
};

constexpr SortKey kSortKeys[] = {
    {"self_cpu_time_total", [](const KeyAverage& row) { return static_cast<double>(row.self_cpu_ns); }},
    {"cpu_time_total", [](const KeyAverage& row) { return static_cast<double>(row.cpu_total_ns); }},
    {"cpu_time", [](const KeyAverage& row) { return row.durations.mean; }},
    {"self_device_time_total", [](const KeyAverage& row) { return static_cast<double>(row.self_device_ns); }},
    {"device_time_total", [](const KeyAverage& row) { return static_cast<double>(row.device_total_ns); }},
    {"device_time",
     [](const KeyAverage& row) { return row.calls != 0 ? static_cast<double>(row.device_total_ns) / static_cast<double>(row.calls) : 0; }},
    {"self_cpu_memory_usage", [](const KeyAverage& row) { return static_cast<double>(row.self_cpu_bytes); }},
    {"cpu_memory_usage", [](const KeyAverage& row) { return static_cast<double>(row.cpu_bytes); }},
    {"self_device_memory_usage", [](const KeyAverage& row) { return static_cast<double>(row.self_device_bytes); }},
    {"device_memory_usage", [](const KeyAverage& row) { return static_cast<double>(row.device_bytes); }},
    {"count", [](const KeyAverage& row) { return static_cast<double>(row.calls); }},
    {"flops", [](const KeyAverage& row) { return static_cast<double>(row.flops); }},
    {"min", [](const KeyAverage& row) { return static_cast<double>(row.durations.min); }},
    {"max", [](const KeyAverage& row) { return static_cast<double>(row.durations.max); }},
    {"median", [](const KeyAverage& row) { return row.durations.median; }},
    {"stddev", [](const KeyAverage& row) { return row.durations.stddev; }},
    {"p95", [](const KeyAverage& row) { return row.durations.p95; }},
    {"p99", [](const KeyAverage& row) { return row.durations.p99; }},
};

constexpr std::string_view kDeviceWords[] = {"cuda", "hip", "xpu", "hpu", "mtia", "privateuse1"};

}  // namespace

std::string_view wordOf(DeviceType device) {
  switch (device) {
    case DeviceType::CPU: return "CPU";
    case DeviceType::CUDA: return "CUDA";
    case DeviceType::HIP: return "HIP";
    case DeviceType::XPU: return "XPU";
    case DeviceType::HPU: return "HPU";
    case DeviceType::MTIA: return "MTIA";
    case DeviceType::PrivateUse1: return "PrivateUse1";
    default: return "Device";
  }
}

std::string withoutDeviceWord(std::string_view key) {
  std::string plain(key);
  for (const std::string_view word : kDeviceWords) {
    const size_t at = plain.find(word);
    if (at == 0 || (at != std::string::npos && plain[at - 1] == '_')) return plain.replace(at, word.size(), "device");
  }
  return plain;
}

std::vector<const KeyAverage*> inOrder(const KeyAverages::Contents& contents, std::string_view sort_by) {
  std::vector<const KeyAverage*> rows;
  for (const KeyAverage& row : contents.rows) rows.push_back(&row);
  if (sort_by.empty()) return rows;
  if (sort_by == "name") {
    std::stable_sort(rows.begin(), rows.end(), [](const KeyAverage* a, const KeyAverage* b) { return a->name < b->name; });
    return rows;
  }
  const std::string plain = withoutDeviceWord(sort_by);
  const auto key = std::find_if(std::begin(kSortKeys), std::end(kSortKeys), [&](const SortKey& each) { return each.name == plain; });
  if (key == std::end(kSortKeys)) {
    std::string known;
    for (const SortKey& each : kSortKeys) known += fmt::format("{}, ", each.name);
    throw ProfilerError(
        fmt::format("rows cannot be sorted by '{}'. Use one of {}name, or nothing for the order in which they first ran", sort_by, known));
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const KeyAverage* a, const KeyAverage* b) { return key->value(*a) > key->value(*b); });
  return rows;
}

}  // namespace xsigma::profiler::analysis
