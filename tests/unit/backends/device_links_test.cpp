// Device work on a simulated device: who asked for it, and where it is shown.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>

#include "fake_session.h"

namespace xsigma::profiler {
namespace {

using namespace std::chrono_literals;
using namespace profiled;
using parsed::Json;

class DeviceLinks : public FakeSession {
 protected:
  // The slices of users' scopes and of devices share their names.
  static KinetoEvent cpuEvent(const ProfilerResult& result, std::string_view name) {
    for (const KinetoEvent& each : result.events()) {
      if (each.name() == name && each.deviceType() == DeviceType::CPU) return each;
    }
    throw std::runtime_error("no event of the host is called " + std::string(name));
  }
};

TEST_F(DeviceLinks, AKernelBelongsToTheInnermostScopeOfItsLaunch) {
  const auto result = profileDevice([&] {
    XSIGMA_PROFILE_SCOPE("outer");
    {
      XSIGMA_PROFILE_SCOPE("inner");
      device.launch("gemm", 7, 50us);
    }
    device.launch("after", 7, 10us);
  });
  const KinetoEvent gemm = event(*result, "gemm");
  EXPECT_EQ(gemm.linkedCorrelationId(), cpuEvent(*result, "inner").correlationId());
  EXPECT_EQ(event(*result, "after").linkedCorrelationId(), cpuEvent(*result, "outer").correlationId());
  EXPECT_NEAR(static_cast<double>(gemm.durationNs()), 50'000, 2);
  EXPECT_EQ(gemm.deviceType(), DeviceType::CUDA);
  EXPECT_EQ(gemm.deviceIndex(), 0);
  EXPECT_EQ(gemm.deviceResourceId(), 7);
}

TEST_F(DeviceLinks, ALaunchOutsideEveryScopeBelongsToNone) {
  const auto result = profileDevice([&] { device.launch("alone", 1, 1us); });
  EXPECT_EQ(event(*result, "alone").linkedCorrelationId(), 0u);
}

TEST_F(DeviceLinks, TheCallLiesInItsScopeAndTheKernelIsItsChild) {
  const auto result = profileDevice([&] {
    XSIGMA_PROFILE_SCOPE("step");
    device.launch("gemm", 7, 50us);
  });
  const auto step = node(result->event_tree(), "step");
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(drawn(step->children_), "fakeLaunch(gemm)");
}

TEST_F(DeviceLinks, LaunchesOfSeveralThreadsFindTheirOwnScopes) {
  ProfilerConfig config = allThreads();
  const auto result = profileDevice(
      [&] {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
          threads.emplace_back([this, i] {
            for (int n = 0; n < 50; ++n) {
              XSIGMA_PROFILE_SCOPE_DYNAMIC("thread " + std::to_string(i));
              device.launch("kernel " + std::to_string(i), i, 1us);
            }
          });
        }
        for (std::thread& thread : threads) thread.join();
      },
      config);
  std::map<uint64_t, std::string> scopes;
  for (const KinetoEvent& each : result->events()) {
    if (each.deviceType() == DeviceType::CPU && each.name().rfind("thread ", 0) == 0) scopes[each.correlationId()] = each.name();
  }
  size_t kernels = 0;
  for (const KinetoEvent& each : result->events()) {
    if (each.name().rfind("kernel ", 0) != 0) continue;
    ++kernels;
    EXPECT_EQ(scopes[each.linkedCorrelationId()], "thread " + each.name().substr(7));
  }
  EXPECT_EQ(kernels, 200u);
}

TEST_F(DeviceLinks, AThreadThatOnlyMakesCallsIsCalledWhatItIsCalled) {
  std::promise<void> recorded;
  std::promise<int64_t> launched;
  std::thread launcher;
  int64_t thread = 0;
  auto result = profileDevice([&] {
    launcher = std::thread([&] {
      pthread_setname_np(pthread_self(), "feeder");
      device.launch("gemm", 7, 50us);
      launched.set_value(syscall(SYS_gettid));
      recorded.get_future().wait();
    });
    thread = launched.get_future().get();
  });
  result->ledger();  // all of it has been fetched
  recorded.set_value();
  launcher.join();
  std::vector<std::string> names;
  for (const Json& each : parsed::traceEvents(saved(*result), "thread_name")) {
    if (static_cast<int64_t>(each["tid"].number) == thread) names.push_back(each["args"]["name"].text);
  }
  EXPECT_EQ(names, std::vector<std::string>{"thread " + std::to_string(thread) + " (feeder)"});
}

TEST_F(DeviceLinks, WithoutExternalCorrelationNothingIsLinked) {
  ProfilerConfig config = kineto();
  config.experimental_config.disable_external_correlation = true;
  const auto result = profileDevice(
      [&] {
        XSIGMA_PROFILE_SCOPE("step");
        device.launch("gemm", 7, 5us);
      },
      config);
  EXPECT_EQ(event(*result, "gemm").linkedCorrelationId(), 0u);
  EXPECT_EQ(count(*result, "step"), 1u) << "no annotation on the device's row";
}

TEST_F(DeviceLinks, TheTraceHasArrowsRowsAnnotationsAndArguments) {
  auto result = profileDevice([&] {
    XSIGMA_PROFILE_SCOPE("outer");
    XSIGMA_PROFILE_SCOPE("inner");
    device.launch("gemm", 7, 50us);
    device.copy(4096, 7, 4096ns);
  });
  const Json trace = saved(*result);
  EXPECT_EQ(trace["deviceProperties"].items.at(0)["name"].text, "a simulated device");
  const Json gemm = slices(trace, "kernel")["gemm"];
  const Json launch = slices(trace, "cuda_runtime")["fakeLaunch"];
  EXPECT_EQ(gemm["pid"].number, 0);
  EXPECT_EQ(gemm["tid"].number, 7);
  EXPECT_EQ(gemm["args"]["stream"].number, 7);
  EXPECT_EQ(gemm["args"]["External id"].number, slices(trace, "user_annotation")["inner"]["args"]["External id"].number);
  EXPECT_EQ(gemm["args"]["correlation"].number, launch["args"]["correlation"].number);
  EXPECT_NEAR(slices(trace, "gpu_memcpy")["Memcpy HtoD (Pageable -> Device)"]["args"]["memory bandwidth (GB/s)"].number, 1.0, 0.01);

  const Json outer = slices(trace, "gpu_user_annotation")["outer"];
  const Json inner = slices(trace, "gpu_user_annotation")["inner"];
  for (const Json& annotation : {outer, inner}) {
    EXPECT_EQ(annotation["tid"].number, 7);
    EXPECT_LE(annotation["ts"].number, gemm["ts"].number);
    EXPECT_GE(annotation["ts"].number + annotation["dur"].number, gemm["ts"].number + gemm["dur"].number);
  }
  EXPECT_LE(outer["ts"].number, inner["ts"].number);

  size_t starts = 0;
  size_t ends = 0;
  for (const Json& each : trace["traceEvents"].items) {
    if (each["cat"].text != "ac2g" || each["id"].number != gemm["args"]["correlation"].number) continue;
    starts += each["ph"].text == "s" && each["ts"].number == launch["ts"].number && each["tid"].number == launch["tid"].number;
    ends += each["ph"].text == "f" && each["ts"].number == gemm["ts"].number && each["tid"].number == 7 && each["bp"].text == "e";
  }
  EXPECT_EQ(starts, 1u);
  EXPECT_EQ(ends, 1u);
  bool named = false;
  for (const Json& each : parsed::traceEvents(trace, "process_name"))
    named |= each["pid"].number == 0 && each["args"]["name"].text == "GPU 0 (a simulated device)";
  EXPECT_TRUE(named);
}

TEST_F(DeviceLinks, WorkThatCrossesOnOneQueueLosesNoSlice) {
  // Two scopes of two threads share a queue: neither's annotation lies in the other.
  ProfilerConfig config = allThreads();
  auto result = profileDevice(
      [&] {
        XSIGMA_PROFILE_SCOPE("first");
        device.launch("a", 3, 10us);
        std::thread([&] {
          XSIGMA_PROFILE_SCOPE("second");
          device.launch("b", 3, 10us);
          device.launch("c", 3, 10us);
        }).join();
        device.launch("d", 3, 10us);
      },
      config);
  const Json trace = saved(*result);
  std::map<std::pair<double, double>, std::vector<std::pair<double, double>>> rows;
  for (const Json& each : trace["traceEvents"].items) {
    if (each["ph"].text == "X" && each["pid"].kind == Json::Kind::number && each["pid"].number == 0) {
      rows[{each["pid"].number, each["tid"].number}].emplace_back(each["ts"].number, each["ts"].number + each["dur"].number);
    }
  }
  size_t events = 0;
  for (const auto& [row, spans] : rows) {
    for (const auto& a : spans) {
      ++events;
      for (const auto& b : spans)
        EXPECT_FALSE(a.first < b.first && b.first < a.second && a.second < b.second) << "slices cross on row " << row.second;
    }
  }
  EXPECT_EQ(events, 6u) << "four kernels, two annotations";
}

TEST_F(DeviceLinks, KernelsOfAGraphBelongToItsLaunchAndNameTheScopeOfTheirCapture) {
  auto result = profileDevice([&] {
    std::vector<uint64_t> nodes;
    {
      XSIGMA_PROFILE_SCOPE("capture");
      nodes.push_back(device.addNode());
    }
    {
      XSIGMA_PROFILE_SCOPE("replay");
      device.launchGraph(nodes, 2, 1us);
    }
  });
  const Json trace = saved(*result);
  const Json kernel = slices(trace, "kernel")["graph_kernel"];
  const auto scopes = slices(trace, "user_annotation");
  EXPECT_EQ(kernel["args"]["External id"].number, scopes.at("replay")["args"]["External id"].number);
  EXPECT_EQ(kernel["args"]["Captured by External id"].number, scopes.at("capture")["args"]["External id"].number);
  EXPECT_EQ(kernel["args"]["Captured in"].text, "capture");
}

TEST_F(DeviceLinks, DeviceColumnsCountOverlapOnce) {
  const auto result = profileDevice([&] {
    XSIGMA_PROFILE_SCOPE("step");
    for (int queue = 0; queue < 3; ++queue) device.launch("gemm", queue, 10ms);  // side by side
  });
  const KeyAverages averages = result->keyAverages();
  const KeyAverage* step = nullptr;
  for (const KeyAverage& row : averages.rows()) {
    if (row.name == "step" && row.device == DeviceType::CPU) step = &row;
  }
  ASSERT_NE(step, nullptr);
  EXPECT_GE(step->self_device_ns, 10'000'000);
  EXPECT_LT(step->self_device_ns, 20'000'000);
}

}  // namespace
}  // namespace xsigma::profiler
