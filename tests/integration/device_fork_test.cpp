// A program forks while a device is watched: the child ends at once and leaves the parent's capture alone, which is whole.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "../unit/backends/fake_session.h"
#include "../unit/backends/fake_stubs.h"
#include "child_process.h"

namespace xsigma::profiler {
namespace {

using namespace std::chrono_literals;
using namespace profiled;
using std::chrono::steady_clock;
using test::forkChild;
using test::runInChild;

constexpr unsigned kChildDeadlineS = 30;

// The child ends as programs do, with the destructors of its thread and of the process.
template <typename Body>
int exitInChild(Body body) {
  return runInChild(
      [&]() -> int {
        body();
        std::exit(0);
      },
      kChildDeadlineS);
}

class DeviceFork : public FakeSession {};

TEST_F(DeviceFork, TheChildEndsAtOnceAndTheParentsCaptureIsWhole) {
  const Folder folder;
  ProfilerConfig config = kineto();
  config.experimental_config.capture.path = folder / "run.xst";
  const test::Shared<std::atomic<int>> fetched;
  device.setBeforeFetch([&] { ++*fetched; });
  enableProfiler(config, kCpuAndDevice);
  for (int i = 0; i < 471'190; ++i) profilerStep();
  device.launch("before", 0, 1ns);
  const auto forked = steady_clock::now();
  EXPECT_EQ(exitInChild([&] {
              scopeCalled("in the child");
              device.launch("in the child", 0, 1ns);
              profilerStep();
            }),
            0);
  EXPECT_LT(steady_clock::now() - forked, 4s);
  device.launch("after", 0, 1ns);
  profilerStep();
  const auto result = disableProfiler();
  EXPECT_EQ(count(*result, "before"), 1u);
  EXPECT_EQ(count(*result, "after"), 1u);
  EXPECT_EQ(count(*result, "in the child"), 0u);
  const Expected<Capture> opened = openCapture(folder / "run.xst");
  ASSERT_TRUE(opened.ok()) << opened.message();
  EXPECT_TRUE(opened->info().closed);
  EXPECT_TRUE(opened->damages().empty());
  EXPECT_TRUE(opened->ledger().whole());
  EXPECT_EQ(opened->ledger().device.kernels, 2u);
  EXPECT_EQ(*fetched, 1) << "the child has asked its parent's device";
  const std::string bytes = contents(folder / "run.xst");
  EXPECT_NE(bytes.find("471191"), std::string::npos);
  EXPECT_EQ(bytes.find("471190"), std::string::npos) << "the child has written its number of steps to its parent's file";
}

TEST_F(DeviceFork, TheChildMayWatchTheDeviceItself) {
  enableProfiler(kineto(), kCpuAndDevice);
  device.launch("of the parent", 0, 1ns);
  const int status = runInChild([&]() -> int {
    const auto own = profileDevice([&] { device.launch("of the child", 0, 1ns); });
    return count(*own, "of the child") == 1 && count(*own, "of the parent") == 0 ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  const auto result = disableProfiler();
  EXPECT_EQ(count(*result, "of the parent"), 1u);
  EXPECT_EQ(count(*result, "of the child"), 0u);
}

TEST_F(DeviceFork, ACaptureThatWasCompleteIsTheChildsToo) {
  const auto result = profileDevice([&] {
    for (int i = 0; i < 10; ++i) device.launch("k", 0, 1ns);
  });
  result->capture().info();  // waits for what the device still had
  EXPECT_EQ(runInChild([&]() -> int { return result->ledger().device.kernels == 10 && count(*result, "k") == 10 ? 0 : 1; }), 0);
}

TEST_F(DeviceFork, ACaptureThatIsNotCompleteIsEmptyInTheChild) {
  std::atomic<bool> go_on{false};
  device.setBeforeFetch([&] {
    while (!go_on) std::this_thread::sleep_for(1ms);
  });
  const auto result = profileDevice([&] { device.launch("k", 0, 1ns); });
  EXPECT_EQ(runInChild([&]() -> int { return result->events().empty() && !result->ledger().device.watched ? 0 : 1; }, 10), 0);
  go_on = true;
  EXPECT_EQ(count(*result, "k"), 1u);
}

// Device time by events of the device, which a worker asks for.
class FallbackFork : public testing::Test {
 protected:
  FallbackFork() { registerCUDAMethods(&stubs_); }
  ~FallbackFork() override { registerCUDAMethods(nullptr); }

  static void enable() { enableProfiler(ProfilerConfig(ProfilerState::KINETO_GPU_FALLBACK), kCpuAndDevice); }
  void timed(const char* name) {
    {
      RecordFunction function(RecordScope::USER_SCOPE);
      function.before(name);
      stubs_.now_ns += 10'000;
    }
    std::this_thread::sleep_for(30ms);  // by then the worker rests, and holds no lock of the fake device's
  }
  static size_t kernels(const ProfilerResult& result, std::string_view name) {
    size_t found = 0;
    constexpr auto kKernel = static_cast<uint8_t>(libkineto::ActivityType::CONCURRENT_KERNEL);
    for (const KinetoEvent& each : result.events()) found += each.name() == name && each.activityType() == kKernel;
    return found;
  }
  // All of them that know the scope they were timed for.
  static size_t linked(const ProfilerResult& result) {
    const std::vector<KinetoEvent>& all = result.events();
    return static_cast<size_t>(std::count_if(all.begin(), all.end(), [](const KinetoEvent& each) {
      return each.deviceType() == DeviceType::CUDA && each.linkedCorrelationId() != 0;
    }));
  }
  // A session of the child's own, with one scope: 0 if all is as it should be.
  int recordOwn() {
    enable();
    timed("of the child");
    const auto own = disableProfiler();
    return kernels(*own, "of the child") == 1 && kernels(*own, "of the parent") == 0 && linked(*own) != 0 ? 0 : 1;
  }

  test::FakeStubs& stubs_ = test::keptStubs();
};

TEST_F(FallbackFork, TheChildEndsAtOnceAndTheParentsCaptureIsWhole) {
  enable();
  timed("of the parent");
  const auto forked = steady_clock::now();
  EXPECT_EQ(exitInChild([&] { timed("in the child"); }), 0);
  EXPECT_LT(steady_clock::now() - forked, 4s);
  timed("of the parent");
  const auto result = disableProfiler();
  EXPECT_EQ(kernels(*result, "of the parent"), 2u);
  EXPECT_EQ(kernels(*result, "in the child"), 0u);
  EXPECT_TRUE(result->ledger().whole());
}

TEST_F(FallbackFork, NoLockThatTheParentsWorkerHoldsHoldsTheChild) {
  // What the other thread holds looks like a leak in the child, which does not have it: whoever looks for leaks at its exit must not come to it.
  static const pid_t parent = getpid();
  on_exit(
      [](int status, void*) {
        if (getpid() != parent) _exit(status);
      },
      nullptr);
  ProfilerConfig config(ProfilerState::KINETO_GPU_FALLBACK);
  config.experimental_config.profile_all_threads = true;
  enableProfiler(config, kCpuAndDevice);
  profilerStep();
  std::atomic<bool> enough{false};
  std::thread other([&] {
    for (int i = 0; !enough; ++i) scopeCalled("a name that the worker has not yet put into the capture: " + std::to_string(i));
  });
  for (int i = 0; i < 100 && !HasFailure(); ++i) {
    std::this_thread::sleep_for(1ms);
    const pid_t child = forkChild(
        []() -> int {
          if (profilerEnabled()) return 1;  // it looks, and lets go of its parent's
          std::exit(0);
        },
        5);
    EXPECT_EQ(test::waitFor(child), 0) << "child " << i;
  }
  enough = true;
  other.join();
  EXPECT_TRUE(disableProfiler()->ledger().device.watched);
}

TEST_F(FallbackFork, TheChildsScopesAreTimedNoMore) {
  enable();
  timed("of the parent");
  EXPECT_EQ(runInChild([&]() -> int {
              const int records = stubs_.records;
              timed("in the child");
              return stubs_.records == records && !hasGlobalCallbacks() ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(hasGlobalCallbacks());
  disableProfiler();
}

TEST_F(FallbackFork, TheChildMayTimeItsOwn) {
  enable();
  timed("of the parent");
  EXPECT_EQ(runInChild([&] { return recordOwn(); }), 0);
  // From a thread without the session, nothing has told the child that its parent's is over.
  int status = -1;
  std::thread([&] { status = runInChild([&] { return recordOwn(); }); }).join();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(kernels(*disableProfiler(), "of the parent"), 1u);
}

}  // namespace
}  // namespace xsigma::profiler
