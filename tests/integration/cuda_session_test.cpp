// A session with the CUDA backend, from enableProfiler to the file: the scopes are this program's, the device is a recorded one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

#include "../unit/parsed_json.h"
#include "../unit/profiled.h"
#include "../unit/warnings.h"
#include "standin.h"

namespace xsigma::profiler {
namespace {

using namespace std::chrono_literals;
using namespace profiled;
using parsed::Json;

class CudaSession : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    ASSERT_TRUE(standin::load(XSIGMA_TEST_RECORDING, &why)) << why;
    setenv("XSIGMA_PROFILER_BACKENDS", "cupti", 1);
  }

  // A program that captures a graph, makes it launchable, and trains. All that was recorded lies between enableProfiler and the end of "train": starting
  // CUDA takes most of that, launches come last.
  static std::unique_ptr<ProfilerResult> trained() {
    enableProfiler(kineto(), {ActivityType::CPU, ActivityType::CUDA});
    {
      XSIGMA_PROFILE_SCOPE("capture");
      standin::captureGraph();
    }
    {
      XSIGMA_PROFILE_SCOPE("instantiate");
      standin::instantiateGraph();
    }
    {
      XSIGMA_PROFILE_SCOPE("train");
      std::this_thread::sleep_for(200ms);
      const auto recorded = standin::recordedThreads();
      standin::play({.times_of_now = true,
                     .ids = {{recorded.at("main"), static_cast<uint32_t>(gettid())}, {recorded.at("second"), 4'000'002}},
                     .graph_nodes = false});
    }
    return disableProfiler();
  }

  static std::vector<Json> ofCategory(const Json& trace, std::string_view category) {
    std::vector<Json> some;
    for (const Json& event : trace["traceEvents"].items) {
      if (event["cat"].text == category && event["ph"].text == "X") some.push_back(event);
    }
    return some;
  }

  Json savedTrace(ProfilerResult& result) {
    result.save(folder_ / "trace.json");
    return parsed::jsonFile(folder_ / "trace.json");
  }

  Folder folder_;
};

TEST_F(CudaSession, EveryKernelIsInTheResultAndBelongsToTheScopeOfItsLaunch) {
  const auto result = trained();
  EXPECT_EQ(count(*result, "alpha(float*, int)"), 25u);
  EXPECT_EQ(count(*result, "Memset (Device)"), 8u);
  uint64_t train = 0;
  for (const KinetoEvent& each : result->events()) {
    if (each.name() == "train" && each.deviceType() == DeviceType::CPU) train = each.correlationId();
  }
  ASSERT_NE(train, 0u);
  size_t in_train = 0;
  for (const KinetoEvent& each : result->events()) {
    if (each.name() != "alpha(float*, int)") continue;
    EXPECT_EQ(each.deviceType(), DeviceType::CUDA);
    in_train += each.linkedCorrelationId() == train;
  }
  EXPECT_EQ(in_train, 22u) << "all but the three of the second thread, which has no scope";
}

TEST_F(CudaSession, TheFileTellsOfKernelsAsReadersExpect) {
  const auto result = trained();
  const Json trace = savedTrace(*result);
  std::map<std::string, int> kernels;
  for (const Json& kernel : ofCategory(trace, "kernel")) {
    ++kernels[kernel["name"].text];
    EXPECT_TRUE(kernel["args"].has("correlation"));
    EXPECT_TRUE(kernel["args"].has("grid"));
  }
  EXPECT_EQ(kernels["void shapes::beta<float>(float*, int)"], 10);
  EXPECT_EQ(kernels["fromTheDriver"], 3);
  EXPECT_EQ(ofCategory(trace, "kernel").size(), 55u);
  EXPECT_EQ(ofCategory(trace, "gpu_memcpy").size(), 6u);
  EXPECT_EQ(ofCategory(trace, "gpu_memset").size(), 8u);
  ASSERT_EQ(trace["deviceProperties"].items.size(), 1u);
  EXPECT_EQ(trace["deviceProperties"].items[0]["name"].text, "NVIDIA H200");
}

TEST_F(CudaSession, AnArrowLeadsFromEachCallToItsWork) {
  const auto result = trained();
  const Json trace = savedTrace(*result);
  std::map<std::string, int> begins, ends;
  for (const Json& each : trace["traceEvents"].items) {
    if (each["cat"].text != "ac2g") continue;
    ++(each["ph"].text == "s" ? begins : ends)[each["id"].text];
  }
  int arrows = 0;
  for (const auto& [id, count_of_ends] : ends) {
    EXPECT_EQ(begins.count(id), 1u) << id;
    arrows += count_of_ends;
  }
  EXPECT_EQ(arrows, 55 + 6 + 8);
  EXPECT_EQ(begins.size(), ends.size()) << "an arrow that leads nowhere";
}

TEST_F(CudaSession, KernelsOfAGraphNameTheScopeInWhichTheyWereCaptured) {
  const auto result = trained();
  const Json trace = savedTrace(*result);
  const std::string captured = parsed::traceEvents(trace, "capture", "X").at(0)["args"]["External id"].text;
  ASSERT_FALSE(captured.empty());
  int in_graphs = 0;
  for (const Json& kernel : ofCategory(trace, "kernel")) {
    if (!kernel["args"].has("graph node id")) continue;
    ++in_graphs;
    EXPECT_EQ(kernel["args"]["Captured by External id"].text, captured) << "and not that in which the graph was made launchable";
  }
  EXPECT_EQ(in_graphs, 15);
}

TEST_F(CudaSession, NothingStartsBeforeItsLaunchAndNothingIsLost) {
  const auto result = trained();
  const Json trace = savedTrace(*result);
  const std::string text = contents(folder_ / "trace.json");
  EXPECT_NE(text.find("\"before_launch\": 0"), std::string::npos);
  std::map<std::string, double> launched;
  for (const char* const category : {"cuda_runtime", "cuda_driver"}) {
    for (const Json& call : ofCategory(trace, category)) launched[call["args"]["correlation"].text] = call["ts"].number;
  }
  for (const Json& kernel : ofCategory(trace, "kernel")) {
    const auto call = launched.find(kernel["args"]["correlation"].text);
    ASSERT_NE(call, launched.end());
    EXPECT_GE(kernel["ts"].number, call->second);
  }
}

TEST_F(CudaSession, AScopeShowsOnEachStreamThatItsWorkRanOn) {
  const auto result = trained();
  const Json trace = savedTrace(*result);
  std::map<std::string, std::pair<double, double>> spans;  // by stream: begin and end of what the scope asked for
  const std::string train = parsed::traceEvents(trace, "train", "X").at(0)["args"]["External id"].text;
  for (const char* const category : {"kernel", "gpu_memcpy", "gpu_memset"}) {
    for (const Json& work : ofCategory(trace, category)) {
      if (work["args"]["External id"].text != train) continue;
      const auto [span, fresh] = spans.try_emplace(work["tid"].text, work["ts"].number, 0.0);
      span->second.first = std::min(span->second.first, work["ts"].number);
      span->second.second = std::max(span->second.second, work["ts"].number + work["dur"].number);
    }
  }
  EXPECT_EQ(spans.size(), 3u);
  for (const Json& annotation : ofCategory(trace, "gpu_user_annotation")) {
    EXPECT_EQ(annotation["name"].text, "train");
    ASSERT_EQ(spans.count(annotation["tid"].text), 1u);
    EXPECT_LE(annotation["ts"].number, spans[annotation["tid"].text].first);
    EXPECT_GE(annotation["ts"].number + annotation["dur"].number, spans[annotation["tid"].text].second - 0.001);
    spans.erase(annotation["tid"].text);
  }
  EXPECT_TRUE(spans.empty()) << "a stream without an annotation";
}

TEST_F(CudaSession, WhereAnotherToolHasCuptiTheHostIsRecordedAndItIsSaid) {
  setenv("CUDA_INJECTION64_PATH", "/opt/tools/libToolsInjection64.so", 1);
  standin::behave({.another_subscriber = true});
  Warnings warnings;
  prepareProfiler(kineto(), {ActivityType::CPU, ActivityType::CUDA});
  enableProfiler(kineto(), {ActivityType::CPU, ActivityType::CUDA});
  scopeCalled("on the host");
  const auto result = disableProfiler();
  EXPECT_EQ(names(*result), Names{"on the host"});
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"CUDA is not recorded", "another tool", "libToolsInjection64.so"});
}

}  // namespace
}  // namespace xsigma::profiler
