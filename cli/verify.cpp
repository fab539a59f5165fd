#include "verify.h"

#include <xsigma/profiler/capture.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

namespace xsp {
namespace {

using namespace xsigma::profiler;

constexpr size_t kThreadsShown = 20;
constexpr size_t kDamagesShown = 10;
constexpr size_t kPendingShown = 10;

std::string bytesText(uint64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

std::string timeText(int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

const char* policyText(CapturePolicy policy) {
  switch (policy) {
    case CapturePolicy::unbounded: return "unbounded";
    case CapturePolicy::stop_when_full: return "stop when full";
    case CapturePolicy::ring: return "ring";
  }
  return "unknown policy";
}

std::string causesText(const ScopeCounts& counts) {
  std::string text;
  for (size_t i = 0; i < kLossCauses; ++i) {
    if (counts.causes[i] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(toString(static_cast<LossCause>(i))) + " " + std::to_string(counts.causes[i]);
  }
  return text;
}

void printInfo(const CaptureInfo& info) {
  std::printf("  process %" PRId64 ", started %s", info.process_id, timeText(info.start_unix_ns).c_str());
  if (info.closed) {
    std::printf(", ran %.3f s, stopped in good order\n", static_cast<double>(info.stop_monotonic_ns - info.start_monotonic_ns) * 1e-9);
  } else {
    std::printf("; not stopped: it is still running, or it was killed\n");
  }
  std::printf("  format %u.%u, %s, %s used", info.version_major, info.version_minor, policyText(info.policy), bytesText(info.bytes_used).c_str());
  if (info.policy != CapturePolicy::unbounded) std::printf(" of %s", bytesText(info.byte_cap).c_str());
  std::printf("\n");
  if (info.counter_is_clock) std::printf("  times are clock_gettime's: no invariant cycle counter, or XSIGMA_PROFILER_CLOCK=monotonic\n");
}

void printRow(const char* thread, const char* name, const ScopeCounts& counts) {
  std::printf("  %-8s %-20.20s %14" PRIu64 " %14" PRIu64 " %12" PRIu64 " %14" PRIu64 "  %s\n", thread, name, counts.attempted, counts.recorded,
              counts.unfinished, counts.dropped, causesText(counts).c_str());
}

void printLedger(const Ledger& ledger, bool all_threads) {
  std::printf("\n  %-8s %-20s %14s %14s %12s %14s  %s\n", "thread", "name", "attempted", "recorded", "unfinished", "dropped", "causes");
  const size_t shown = all_threads ? ledger.threads.size() : std::min(kThreadsShown, ledger.threads.size());
  for (size_t i = 0; i < shown; ++i) {
    const ThreadLedger& thread = ledger.threads[i];
    printRow(std::to_string(thread.system_id).c_str(), thread.name.c_str(), thread);
  }
  if (shown < ledger.threads.size()) std::printf("  … and %zu threads more; --all-threads shows them\n", ledger.threads.size() - shown);
  printRow("all", "", ledger);
  std::printf("\n");
  if (ledger.extras_dropped != 0) std::printf("  %" PRIu64 " instants, counters, memory events, inputs or ends found no room\n", ledger.extras_dropped);
  if (ledger.names_dropped != 0) std::printf("  %" PRIu64 " names found no room: their scopes are there, nameless\n", ledger.names_dropped);
  if (ledger.threads_dropped != 0) std::printf("  %" PRIu64 " threads found no room in the thread table\n", ledger.threads_dropped);
}

void printDevice(const DeviceLedger& device) {
  if (!device.watched) return;
  std::printf("  device: %" PRIu64 " kernels launched = %" PRIu64 " recorded + %" PRIu64 " pending + %" PRIu64 " dropped; %" PRIu64 " copies and fills, %" PRIu64
              " calls\n",
              device.launched, device.kernels, device.pending, device.dropped, device.copies, device.calls);
  for (size_t i = 0; i < std::min(kPendingShown, device.pending_names.size()); ++i) {
    const auto& [name, count] = device.pending_names[i];
    std::printf("  pending: %" PRIu64 " of %s\n", count, name.empty() ? "a kernel without a name" : name.c_str());
  }
  if (device.pending_names.size() > kPendingShown) std::printf("  … and %zu kernels more\n", device.pending_names.size() - kPendingShown);
  for (size_t i = 0; i < kDeviceLossCauses; ++i) {
    if (device.causes[i] != 0) std::printf("  %" PRIu64 " device records were dropped: %s\n", device.causes[i], toString(static_cast<DeviceLossCause>(i)));
  }
  if (device.not_counted != 0) std::printf("  %" PRIu64 " samples, ranges or launches have no hardware counters\n", device.not_counted);
}

// What the session had to say of its devices: which backend, or why there is none.
void printWatched(const Capture& capture) {
  for (const CaptureProperty& property : capture.properties()) {
    if (property.key == "xsigmaDevices") std::printf("  devices asked for: %s\n", property.json.c_str());
  }
}

int verify(const std::string& path, bool all_threads) {
  const Expected<Capture> capture = openCapture(path);
  if (!capture) {
    std::fprintf(stderr, "xsp verify: %s\n", capture.message().c_str());
    return capture.status().code() == StatusCode::corrupt ? kExitCorrupt : kExitUsage;
  }
  const Ledger ledger = capture->ledger();
  const std::vector<Damage>& damages = capture->damages();
  const int status = !damages.empty() ? kExitCorrupt : ledger.whole() ? kExitWhole : kExitLoss;
  std::printf("%s: %s\n", path.c_str(), status == kExitCorrupt ? "corrupt" : status == kExitLoss ? "readable, with losses" : "whole");
  printInfo(capture->info());
  printLedger(ledger, all_threads);
  printDevice(ledger.device);
  printWatched(*capture);
  for (size_t i = 0; i < std::min(kDamagesShown, damages.size()); ++i) {
    std::printf("  damaged at byte %" PRIu64 ": %s\n", damages[i].offset, damages[i].what.c_str());
  }
  if (damages.size() > kDamagesShown) std::printf("  … and %zu damaged places more\n", damages.size() - kDamagesShown);
  return status;
}

}  // namespace

void addVerify(CLI::App& app, int& status) {
  auto path = std::make_shared<std::string>();
  auto all_threads = std::make_shared<bool>(false);
  CLI::App* const verb = app.add_subcommand("verify", "Says whether a capture is whole, and what is missing");
  verb->add_option("FILE", *path, "a capture, NAME.xst; finished, running, killed or cut short")->required();
  verb->add_flag("--all-threads", *all_threads, "lists every thread, not the first twenty");
  verb->footer("Exit code: 0 whole, 3 readable with losses, 4 corrupt, 2 not readable here (no such file, a newer format).");
  verb->callback([path, all_threads, &status] { status = verify(*path, *all_threads); });
}

}  // namespace xsp
