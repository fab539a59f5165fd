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

std::string insteadText(const MemoryDevice& device) {
  std::string failed = device.shortages.empty() ? "" : countText(device.shortages.size(), "allocation") + " that failed";
  if (device.unknown_releases == 0) return failed;
  return failed + (failed.empty() ? "" : " and ") + countText(device.unknown_releases, "release");
}

std::string unknownText(const MemoryDevice& device) {
  if (device.unknown_releases == 0) return {};
  return fmt::format(
      "{} of memory whose allocation was not seen, {}: it was before the start, not reported, or lost, or two layers report the same "
      "memory. They are in no total.",
      countText(device.unknown_releases, "release"), bytesText(device.unknown_released_bytes));
}

std::string replacedText(const MemoryDevice& device) {
  if (device.replaced == 0) return {};
  return fmt::format(
      "{} at an address that was still taken: the release in between was not seen, or two layers report the same memory. What was there "
      "counts "
      "as released.",
      countText(device.replaced, "allocation"));
}

std::string lossText(const MemoryProfile& profile) {
  std::string text;
  if (profile.overwritten) text += " The recording was a ring that went round: what was reported before it begins is gone.";
  if (profile.lost_reports != 0) {
    text += fmt::format(
        " {} of memory and of other marks {} lost: room ran out, which a larger CaptureOptions::byte_cap helps; or they were made inside "
        "the "
        "profiler itself, by a signal handler or an operator new that reports. Totals, peak and leaks are of what is left.",
        countText(profile.lost_reports, "report"), profile.lost_reports == 1 ? "was" : "were");
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
    if (device.allocations == 0)
      line(fmt::format("no allocation was seen, only {}.", insteadText(device)));
    else
      line(fmt::format("peak of {} at {}{}.", bytesText(device.peak.bytes), timeText(device.peak.time_ns - start_ns), ofIt(device.peak)));
    const size_t shown = std::min<size_t>(10, device.shortages.size());
    for (size_t i = 0; i < shown; ++i) {
      const MemoryShortage& shortage = device.shortages[i];
      line(fmt::format("out of memory at {}: {} asked for in {}, {} allocated{}.", timeText(shortage.time_ns - start_ns),
                       bytesText(shortage.requested), path(device.events[shortage.event].scope), bytesText(shortage.bytes),
                       ofIt(shortage)));
    }
    if (shown < device.shortages.size()) line(fmt::format("out of memory {} more.", countText(device.shortages.size() - shown, "time")));
    if (device.leaks.empty() && device.allocations != 0) line("everything was released.");
    if (!device.leaks.empty())
      line(fmt::format("{} not released, {}:", countText(device.leaks.size(), "allocation"), bytesText(device.leaked_bytes)));
    for (size_t i = 0; i < std::min(kMostHolders, device.leaks_by_scope.size()); ++i) {
      const MemoryHolder& leak = device.leaks_by_scope[i];
      text += fmt::format("  {} in {}, {}\n", countText(leak.blocks, "allocation"), path(leak.scope), bytesText(leak.bytes));
    }
    for (const std::string& note : {unknownText(device), replacedText(device)}) {
      if (!note.empty()) line(note);
    }
  }
  if (const std::string losses = lossText(*this); !losses.empty()) text += losses + "\n";
  return text;
}

}  // namespace xsigma::profiler
