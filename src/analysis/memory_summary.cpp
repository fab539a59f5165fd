#include "analysis/memory_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace xsigma::profiler {
namespace analysis {

std::string bytesText(uint64_t bytes) {
  if (bytes < 1024) return countText(bytes, "byte");
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string timeText(int64_t ns) {
  const auto value = static_cast<double>(std::max<int64_t>(0, ns));
  if (value < 1e3) return fmt::format("{:.0f} ns", value);
  if (value < 1e6) return fmt::format("{:.1f} µs", value * 1e-3);
  if (value < 1e9) return fmt::format("{:.1f} ms", value * 1e-6);
  return fmt::format("{:.2f} s", value * 1e-9);
}

const char* deviceTypeText(DeviceType type) {
  constexpr const char* kNames[] = {"CPU",   "CUDA", "MKLDNN", "OPENGL", "OPENCL", "IDEEP", "HIP",  "FPGA", "MAIA", "XLA",        "Vulkan",
                                    "Metal", "XPU",  "MPS",    "Meta",   "HPU",    "VE",    "Lazy", "IPU",  "MTIA", "PrivateUse1"};
  const auto index = static_cast<size_t>(type);
  return index < std::size(kNames) ? kNames[index] : "unknown device";
}

std::string deviceText(Device device) {
  return device.index < 0 ? deviceTypeText(device.type) : fmt::format("{} {}", deviceTypeText(device.type), device.index);
}

std::string countText(uint64_t count, const char* thing) {
  std::string digits = fmt::format("{}", count);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return fmt::format("{} {}{}", digits, thing, count == 1 ? "" : "s");
}

std::string lossText(const MemoryProfile& profile) {
  std::string text;
  if (profile.overwritten) text += " The recording was a ring that went round: what was reported before it begins is gone.";
  if (profile.lost_reports != 0) {
    text += fmt::format(" Room ran out for {}: totals, peak and leaks are of what is left. Raise CaptureOptions::byte_cap.",
                        countText(profile.lost_reports, "report"));
  }
  if (profile.lost_scopes != 0) {
    text += fmt::format(" {} lost: some memory is told by the scopes around {}.",
                        profile.lost_scopes == 1 ? "1 scope was" : fmt::format("{} scopes were", profile.lost_scopes),
                        profile.lost_scopes == 1 ? "it" : "them");
  }
  if (profile.damaged) text += " The capture is damaged: some of it could not be read.";
  return text.empty() ? text : text.substr(1);
}

}  // namespace analysis

using namespace analysis;

std::string MemoryProfile::path(uint32_t scope) const {
  constexpr uint32_t kMostShown = 16;
  if (scope == 0 || scope >= scopes.size()) return "(no scope)";
  std::vector<const std::string*> names;
  const bool cut = scopes[scope].depth > kMostShown;
  for (; scope != 0 && names.size() < kMostShown; scope = scopes[scope].parent) names.push_back(&scopes[scope].name);
  std::string text = cut ? "…" : "";
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (!text.empty()) text += " > ";
    text += **name;
  }
  return text;
}

std::string MemoryProfile::summary() const {
  std::string text;
  if (devices.empty()) text = std::string(kNobodyReported) + "\n";
  for (const MemoryDevice& device : devices) {
    const std::string where = deviceText(device.device) + ": ";
    const auto line = [&](const std::string& words) { text += where + words + "\n"; };
    const auto ofIt = [&](const MemoryMoment& moment) {
      if (moment.holders.empty()) return std::string();
      return fmt::format(", {} of it allocated in {}", bytesText(moment.holders[0].bytes), path(moment.holders[0].scope));
    };
    line(fmt::format("peak of {} at {}{}.", bytesText(device.peak.bytes), timeText(device.peak.time_ns - start_ns), ofIt(device.peak)));
    const size_t shown = std::min<size_t>(10, device.shortages.size());
    for (size_t i = 0; i < shown; ++i) {
      const MemoryShortage& shortage = device.shortages[i];
      line(fmt::format("out of memory at {}: {} asked for, {} allocated{}.", timeText(shortage.time_ns - start_ns),
                       bytesText(shortage.requested), bytesText(shortage.bytes), ofIt(shortage)));
    }
    if (shown < device.shortages.size()) line(fmt::format("out of memory {} more.", countText(device.shortages.size() - shown, "time")));
    if (device.leaks.empty())
      line("everything was released.");
    else
      line(fmt::format("{} not released, {}:", countText(device.leaks.size(), "allocation"), bytesText(device.leaked_bytes)));
    for (size_t i = 0; i < std::min(kMostHolders, device.leaks_by_scope.size()); ++i) {
      const MemoryHolder& leak = device.leaks_by_scope[i];
      text += fmt::format("  {} in {}, {}\n", countText(leak.blocks, "allocation"), path(leak.scope), bytesText(leak.bytes));
    }
    if (device.unknown_releases != 0) {
      line(fmt::format("{} of memory that was allocated before the start, {}.", countText(device.unknown_releases, "release"),
                       bytesText(device.unknown_released_bytes)));
    }
  }
  if (const std::string losses = lossText(*this); !losses.empty()) text += losses + "\n";
  return text;
}

}  // namespace xsigma::profiler
