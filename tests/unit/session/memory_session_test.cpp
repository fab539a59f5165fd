// startMemoryProfile, stopMemoryProfile, exportMemoryProfile: in every state, alone and beside the profiler.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <memory_resource>
#include <string>
#include <thread>

#include "../parsed_json.h"
#include "../profiled.h"
#include "xsigma/profiler/api.h"
#include "xsigma/profiler/memory.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;
using parsed::Json;

int object[8];

void allocated(size_t index, int64_t bytes) { reportMemoryUsage(&object[index], bytes, 0, 0); }

double allocations(const std::string& path) { return parsed::json(contents(path))["devices"].items.at(0)["allocations"].number; }

// Each test is a process of its own under ctest; together they run in this order.
TEST(AMemoryProfile, ThatWasNeverStartedCannotBeExportedOrStopped) {
  const Folder folder;
  expectWords(refusal([&] { exportMemoryProfile(folder / "memory.json"); }),
              {"exportMemoryProfile", "no memory profile", "startMemoryProfile()"});
  expectWords(refusal([] { memoryProfile(); }), {"memoryProfile", "startMemoryProfile()"});
  expectWords(refusal([] { stopMemoryProfile(); }), {"stopMemoryProfile", "startMemoryProfile()"});
  EXPECT_EQ(folder.files(), Names{});
}

TEST(MemorySession, IsExportedWhileItRunsAndAfter) {
  const Folder folder;
  startMemoryProfile();
  {
    XSIGMA_PROFILE_SCOPE("first");
    allocated(0, 10);
  }
  exportMemoryProfile(folder / "running.json");
  exportMemoryProfile(folder / "running.html");
  std::thread([] {
    XSIGMA_PROFILE_SCOPE("second");
    allocated(1, 20);
  }).join();
  stopMemoryProfile();
  allocated(2, 40);  // too late
  exportMemoryProfile(folder / "after.json");
  exportMemoryProfile(folder / "after.html");
  exportMemoryProfile(folder / "again.json");
  EXPECT_EQ(folder.files(), (Names{"after.html", "after.json", "again.json", "running.html", "running.json"}));
  EXPECT_EQ(allocations(folder / "running.json"), 1);
  EXPECT_EQ(allocations(folder / "after.json"), 2);
  EXPECT_EQ(contents(folder / "after.json"), contents(folder / "again.json"));
  expectWords(contents(folder / "after.html"), {"<!doctype html>", "CPU memory peaked at 30 bytes"});
  const MemoryProfile profile = memoryProfile();
  EXPECT_EQ(profile.path(profile.devices.at(0).peak.holders.at(0).scope), "second");
}

TEST(MemorySession, ASecondStartIsRefusedAndHarmless) {
  startMemoryProfile();
  allocated(0, 10);
  expectWords(refusal([] { startMemoryProfile(); }), {"startMemoryProfile", "runs already", "stopMemoryProfile()"});
  stopMemoryProfile();
  expectWords(refusal([] { stopMemoryProfile(); }), {"no memory profile runs"});
  EXPECT_EQ(memoryProfile().devices.at(0).allocations, 1u);
  startMemoryProfile();  // begins anew
  EXPECT_TRUE(memoryProfile().empty());
  stopMemoryProfile();
  EXPECT_TRUE(memoryProfile().empty());
}

TEST(MemorySession, OtherEndingsAreRefused) {
  const Folder folder;
  startMemoryProfile();
  expectWords(refusal([&] { exportMemoryProfile(folder / "memory.pickle"); }), {"exportMemoryProfile", "memory.pickle", ".json", ".html"});
  expectWords(refusal([&] { exportMemoryProfile(folder / "none/memory.json"); }), {"exportMemoryProfile", "Choose a folder"});
  stopMemoryProfile();
  EXPECT_EQ(folder.files(), Names{});
}

TEST(MemorySession, RunsBesideTheProfilerWhetherThatWantsMemoryOrNot) {
  enableProfiler(kineto(), kCpu);
  autograd::profiler::startMemoryProfile();  // by its older name
  {
    XSIGMA_PROFILE_SCOPE("scope");
    allocated(0, 64);
  }
  const auto result = disableProfiler();
  {
    XSIGMA_PROFILE_SCOPE("later");
    allocated(1, 32);
  }
  autograd::profiler::stopMemoryProfile();
  EXPECT_EQ(names(*result), Names{"scope"});
  EXPECT_TRUE(analyzeMemory(result->capture()).empty());
  EXPECT_EQ(memoryProfile().devices.at(0).allocations, 2u);
}

TEST(MemorySession, AResultWithMemoryCanBeAnalysedToo) {
  ProfilerConfig config = kineto();
  config.profile_memory = true;
  const auto result = profile(
      [] {
        XSIGMA_PROFILE_SCOPE("scope");
        const MemoryCategoryGuard guard(MemoryCategory::gradient);
        allocated(0, 64);
      },
      config);
  const MemoryProfile profile = analyzeMemory(result->capture());
  const MemoryDevice& device = profile.devices.at(0);
  EXPECT_EQ(profile.path(device.leaks_by_scope.at(0).scope), "scope");
  EXPECT_EQ(device.events.at(0).category, MemoryCategory::gradient);
}

TEST(MemorySession, TakesOptionsAndRefusesImpossibleOnes) {
  CaptureOptions options;
  options.byte_cap = 1;
  expectWords(refusal([&] { startMemoryProfile(options); }), {"startMemoryProfile", "byte_cap"});
  options.byte_cap = kMinimumByteCap;
  startMemoryProfile(options);
  for (int i = 0; i < 10'000; ++i) allocated(0, i % 2 == 0 ? 8 : -8);
  stopMemoryProfile();
  const MemoryProfile profile = memoryProfile();
  EXPECT_GT(profile.lost_reports, 0u);
  EXPECT_EQ(profile.lost_reports + profile.devices.at(0).events.size(), 10'000u);
  expectWords(profile.summary(), {"room ran out", "byte_cap", "inside the profiler"});
}

TEST(MemorySession, TwoReportingLayersAtOneAddressAreNotCalledOldMemory) {
  startMemoryProfile();
  {
    ReportingResource lower;
    std::pmr::monotonic_buffer_resource pool(256, &lower);
    ReportingResource upper(&pool);
    const std::pmr::vector<char> bytes(100, 'x', &upper);
  }
  stopMemoryProfile();
  const MemoryProfile profile = memoryProfile();
  const MemoryDevice& device = profile.devices.at(0);
  EXPECT_EQ(device.allocations, 2u);
  EXPECT_EQ(device.allocations, device.releases + device.replaced + device.leaks.size());
  EXPECT_EQ(device.replaced, 1u);
  EXPECT_EQ(device.unknown_releases, 1u);
  expectWords(profile.summary(),
              {"1 release of memory whose allocation was not seen", "1 allocation at an address that was still taken", "two layers"});
}

TEST(MemorySession, AFileIsACaptureOfItsOwn) {
  const Folder folder;
  CaptureOptions options;
  options.path = folder / "memory.xst";
  startMemoryProfile(options);
  allocated(0, 48);
  stopMemoryProfile();
  EXPECT_EQ(analyzeMemory(openCapture(options.path).value()).devices.at(0).leaked_bytes, 48u);
}

TEST(MemorySession, LeavesTheFileOfTheEnvironmentToOthers) {
  const Folder folder;
  setenv("XSIGMA_PROFILER_FILE", (folder / "taken.xst").c_str(), 1);
  startMemoryProfile();
  unsetenv("XSIGMA_PROFILER_FILE");
  stopMemoryProfile();
  EXPECT_EQ(folder.files(), Names{});
}

TEST(MemorySession, AForkedChildHasNone) {
  startMemoryProfile();
  const pid_t child = fork();
  if (child == 0) {
    const std::string said = refusal([] { stopMemoryProfile(); });
    _exit(said.find("no memory profile runs") != std::string::npos ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  stopMemoryProfile();
}

}  // namespace
}  // namespace xsigma::profiler
