// The shim and the flat calls: traces of all threads, begun and ended by hand.
#include "xsigma/profiler/kineto_shim.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "../parsed_json.h"
#include "../profiled.h"
#include "../warnings.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;
namespace shim = impl::kineto;
using KinetoType = libkineto::ActivityType;

static_assert(shim::kKinetoAvailable);

class AShimTrace : public testing::Test {
 protected:
  void TearDown() override {
    try {
      shim::stopTrace();
      ADD_FAILURE() << "the test left a trace running";
    } catch (const ProfilerError&) {
    }
  }
  parsed::Json saved(const ActivityTraceWrapper& trace) const {
    trace.save(folder_ / "trace.json");
    return parsed::jsonFile(folder_ / "trace.json");
  }

  Folder folder_;
};

TEST_F(AShimTrace, HasAllThreads) {
  shim::prepareTrace(true, kCpu);
  shim::startTrace();
  scopeCalled("mine");
  std::thread([] { scopeCalled("another's"); }).join();
  const ActivityTraceWrapper trace = shim::stopTrace();
  scopeCalled("after");
  ASSERT_TRUE(static_cast<bool>(trace));
  const parsed::Json json = saved(trace);
  EXPECT_EQ(parsed::traceEvents(json, "mine", "X").size(), 1u);
  EXPECT_EQ(parsed::traceEvents(json, "another's", "X").size(), 1u);
  EXPECT_EQ(parsed::traceEvents(json, "after", "X").size(), 0u);
}

TEST_F(AShimTrace, IsSavedAgainAndAgain) {
  shim::startTrace();
  scopeCalled("a");
  const ActivityTraceWrapper trace = shim::stopTrace();
  for (const char* const name : {"one.json", "one.json", "two.json", "three.json.gz", "four.xst"}) trace.save(folder_ / name);
  EXPECT_EQ(folder_.files(), (Names{"four.xst", "one.json", "three.json.gz", "two.json"}));
  EXPECT_EQ(contents(folder_ / "one.json").size(), contents(folder_ / "two.json").size());
  EXPECT_EQ(parsed::traceEvents(parsed::jsonFile(folder_ / "two.json"), "a", "X").size(), 1u);
  expectWords(refusal([&] { trace.save(folder_ / "missing/trace.json"); }), {"missing/trace.json", "folders are not created"});
}

TEST_F(AShimTrace, IsReadAsActivities) {
  shim::startTrace();
  {
    XSIGMA_PROFILE_SCOPE("scope");
    recordMetadata("key", "value");
    XSIGMA_PROFILE_FUNCTION();
  }
  const ActivityTraceWrapper trace = shim::stopTrace();
  const std::vector<const libkineto::ITraceActivity*>& activities = *trace.get()->activities();
  ASSERT_EQ(activities.size(), 2u);
  EXPECT_EQ(activities[0]->name(), "scope");
  EXPECT_EQ(activities[0]->type(), KinetoType::USER_ANNOTATION);
  EXPECT_EQ(activities[1]->type(), KinetoType::CPU_OP);
  EXPECT_EQ(activities[0]->deviceId(), getpid());
  EXPECT_EQ(activities[0]->resourceId(), syscall(SYS_gettid));
  EXPECT_EQ(activities[0]->getThreadId(), syscall(SYS_gettid));
  EXPECT_NE(activities[0]->correlationId(), activities[1]->correlationId());
  EXPECT_LE(activities[0]->timestamp(), activities[1]->timestamp());
  EXPECT_GE(activities[0]->duration(), activities[1]->duration());
  EXPECT_EQ(parsed::json("{" + activities[0]->metadataJson() + "}")["key"].text, "value");
  EXPECT_EQ(activities[1]->metadataJson(), "");
  EXPECT_EQ(trace.get()->activities(), &activities) << "worked out once";
}

TEST_F(AShimTrace, IsOneAtATime) {
  shim::startTrace();
  expectWords(refusal([] { shim::startTrace(); }), {"running already", "stopTrace()"});
  expectWords(refusal([] { kineto_start_trace(); }), {"running already"});
  expectWords(refusal([] { shim::prepareTrace(true, kCpu); }), {"running already", "Stop it"});
  expectWords(refusal([] { kineto_prepare_trace(); }), {"running already"});
  scopeCalled("undisturbed");
  EXPECT_EQ(parsed::traceEvents(saved(shim::stopTrace()), "undisturbed", "X").size(), 1u);
}

TEST_F(AShimTrace, ThatDoesNotRunCannotBeStopped) {
  expectWords(refusal([] { shim::stopTrace(); }), {"No trace is running", "startTrace()"});
  expectWords(refusal([] { kineto_stop_trace(); }), {"No trace is running"});
  shim::prepareTrace(true, kCpu);
  expectWords(refusal([] { shim::stopTrace(); }), {"No trace is running"});
  shim::startTrace();
  shim::stopTrace();
  expectWords(refusal([] { shim::stopTrace(); }), {"No trace is running"});
}

TEST_F(AShimTrace, OfNothingCannotBeSaved) {
  const ActivityTraceWrapper nothing;
  EXPECT_FALSE(static_cast<bool>(nothing));
  expectWords(refusal([&] { nothing.save(folder_ / "trace.json"); }), {"Missing trace", "trace.json", "stopTrace()"});
}

TEST_F(AShimTrace, TakesOverWhatWasPreparedAndThenForgetsIt) {
  shim::prepareTrace(true, kCpu, {}, "the first");
  shim::prepareTrace(true, kCpu, {}, "the last one counts");
  shim::startTrace();
  EXPECT_EQ(saved(shim::stopTrace())["trace_id"].text, "the last one counts");
  shim::startTrace();
  EXPECT_FALSE(saved(shim::stopTrace()).has("trace_id"));
}

TEST_F(AShimTrace, KeepsWhatWasPreparedWhenItCannotStart) {
  shim::prepareTrace(true, kCpu, {}, "prepared");
  {
    std::vector<Recording> recordings;
    for (int i = 0; i < 4; ++i) recordings.push_back(startRecording().value());
    expectWords(refusal([] { shim::startTrace(); }), {"4 recordings"});
  }
  shim::startTrace();
  EXPECT_EQ(saved(shim::stopTrace())["trace_id"].text, "prepared");
}

TEST_F(AShimTrace, RefusesWhatCannotBeHonoured) {
  expectWords(refusal([] { shim::prepareTrace(false, {}); }), {"No activities"});
  expectWords(refusal([] { shim::prepareTrace(false, {ActivityType::CPU, ActivityType::XPU}); }), {"ActivityType::XPU"});
  expectWords(refusal([] { shim::prepareTrace(true, {ActivityType::XPU}); }), {"No activities"});
  shim::prepareTrace(true, {ActivityType::CPU, ActivityType::XPU});
  ExperimentalConfig metrics;
  metrics.profiler_metrics = {"m"};
  expectWords(refusal([&] { shim::prepareTrace(true, kCpu, metrics); }), {"profiler_metrics"});
}

TEST_F(AShimTrace, IsSwitchedOffAndOn) {
  shim::toggleCollectionDynamic(false);
  shim::startTrace();
  shim::toggleCollectionDynamic(false);
  scopeCalled("off");
  shim::toggleCollectionDynamic(true);
  scopeCalled("on");
  const parsed::Json json = saved(shim::stopTrace());
  EXPECT_EQ(parsed::traceEvents(json, "off").size(), 0u);
  EXPECT_EQ(parsed::traceEvents(json, "on").size(), 1u);
}

TEST_F(AShimTrace, RunsBesideASession) {
  shim::startTrace();
  const auto result = profile([] { scopeCalled("both"); });
  scopeCalled("the trace's alone");
  const parsed::Json json = saved(shim::stopTrace());
  EXPECT_EQ(names(*result), Names{"both"});
  EXPECT_EQ(parsed::traceEvents(json, "both").size(), 1u);
  EXPECT_EQ(parsed::traceEvents(json, "the trace's alone").size(), 1u);
}

TEST_F(AShimTrace, TakesMetadataAndSteps) {
  shim::startTrace();
  addMetadataJson("mine", "[1]");
  profilerStep();
  const parsed::Json json = saved(shim::stopTrace());
  EXPECT_EQ(json["mine"].items.size(), 1u);
  EXPECT_EQ(json["iterations"].number, 1);
}

TEST_F(AShimTrace, CorrelationIdsAreHarmless) {
  const auto pushAndPop = [] {
    shim::popCorrelationId();
    shim::popUserCorrelationId();
    shim::pushCorrelationId(UINT64_MAX);
    shim::pushUserCorrelationId(7);
    scopeCalled("correlated");
    shim::popUserCorrelationId();
    shim::popCorrelationId();
    shim::popCorrelationId();
    shim::pushCorrelationId(8);
  };
  pushAndPop();
  shim::startTrace();
  pushAndPop();
  const ActivityTraceWrapper trace = shim::stopTrace();
  EXPECT_EQ(trace.get()->activities()->size(), 1u);
  EXPECT_EQ(parsed::traceEvents(saved(trace), "correlated", "X").size(), 1u);
}

TEST_F(AShimTrace, HasARowForAThreadThatAskedForOne) {
  shim::recordThreadInfo();
  shim::startTrace();
  long thread = 0;
  std::thread([&] {
    setThreadName("silent worker");
    thread = syscall(SYS_gettid);
    shim::recordThreadInfo();
  }).join();
  bool named = false;
  for (const parsed::Json& row : parsed::traceEvents(saved(shim::stopTrace()), "thread_name", "M")) {
    named |= static_cast<long>(row["tid"].number) == thread && row["args"]["name"].text.find("silent worker") != std::string::npos;
  }
  EXPECT_TRUE(named);
}

TEST_F(AShimTrace, KeepsAnInvariantViolation) {
  const Warnings warnings;
  shim::logInvariantViolation("a < b", "a was 7", "profile 1", "group 2");
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"a < b", "a was 7", "profile 1", "group 2"});
  shim::startTrace();
  shim::logInvariantViolation("c \"quoted\"", "d", "e", "f");
  EXPECT_EQ(warnings.count(), 2u);
  const parsed::Json note = saved(shim::stopTrace())["invariant_violation"];
  EXPECT_EQ(note["assertion"].text, "c \"quoted\"");
  EXPECT_EQ(note["error"].text, "d");
  EXPECT_EQ(note["profile_id"].text, "e");
  EXPECT_EQ(note["group_profile_id"].text, "f");
}

TEST(TheShim, KnowsTheCallingThread) {
  const shim::DeviceAndResource ids = shim::kineto_ids();
  EXPECT_EQ(ids.device, getpid());
  EXPECT_EQ(ids.resource, syscall(SYS_gettid));
  EXPECT_FALSE(shim::collectivesProfilerExists());
}

class FlatCalls : public AShimTrace {
 protected:
  static void program() {
    char block[8];
    XSIGMA_RECORD_FUNCTION("op", {7});
    reportMemoryUsage(block, 8, 8, 8);
  }
  parsed::Json traced(const std::string& config) {
    kineto_prepare_trace({ActivityType::CPU}, config);
    kineto_start_trace();
    program();
    return saved(*kineto_stop_trace());
  }
  static std::string refused(const std::string& config) {
    return refusal([&] { kineto_prepare_trace({ActivityType::CPU}, config); });
  }
};

TEST_F(FlatCalls, NeedNoInitAndSayThatTheyWork) {
  EXPECT_TRUE(kineto_init());
  EXPECT_TRUE(kineto_init(true, false));
  kineto_start_trace();
  program();
  const std::unique_ptr<ActivityTraceWrapper> trace = kineto_stop_trace();
  ASSERT_NE(trace, nullptr);
  const parsed::Json json = saved(*trace);
  EXPECT_EQ(parsed::traceEvents(json, "op", "X").size(), 1u);
  EXPECT_FALSE(parsed::traceEvents(json, "op", "X")[0]["args"].has("Concrete Inputs"));
  EXPECT_EQ(parsed::traceEvents(json, "[memory]").size(), 0u);
}

TEST_F(FlatCalls, TakeTheConfigurationOfLibkineto) {
  const parsed::Json json = traced(
      "# comment\n"
      "\n"
      "REQUEST_TRACE_ID=id = 7\r\n"
      "  PROFILE_REPORT_INPUT_SHAPES = true\n"
      "PROFILE_PROFILE_MEMORY=1\n"
      "PROFILE_WITH_FLOPS=yes\n"
      "PROFILE_WITH_MODULES=on\n"
      "PROFILE_WITH_STACK=True");
  EXPECT_EQ(json["trace_id"].text, "id = 7");
  EXPECT_EQ(json["record_shapes"].number, 1);
  EXPECT_EQ(json["profile_memory"].number, 1);
  EXPECT_EQ(json["with_flops"].number, 1);
  EXPECT_EQ(json["with_modules"].number, 1);
  EXPECT_EQ(json["with_stack"].number, 1);
  const parsed::Json op = parsed::traceEvents(json, "op", "X").at(0);
  EXPECT_EQ(op["args"]["Concrete Inputs"].items.at(0).text, "7");
  expectWords(op["args"]["Call stack"].text, {"FlatCalls::traced"});
  EXPECT_EQ(parsed::traceEvents(json, "[memory]").size(), 1u);
}

TEST_F(FlatCalls, TakeNoForAnAnswer) {
  const parsed::Json json = traced("PROFILE_REPORT_INPUT_SHAPES=false\nPROFILE_PROFILE_MEMORY=0\nPROFILE_WITH_STACK=off\n");
  const parsed::Json op = parsed::traceEvents(json, "op", "X").at(0);
  EXPECT_FALSE(op["args"].has("Concrete Inputs"));
  EXPECT_FALSE(op["args"].has("Call stack"));
  EXPECT_EQ(parsed::traceEvents(json, "[memory]").size(), 0u);
}

TEST_F(FlatCalls, RefuseLinesThatTheyDoNotUnderstand) {
  expectWords(refused("PROFILE_WITH_STACK"), {"line 1", "'PROFILE_WITH_STACK'", "KEY=VALUE"});
  expectWords(refused("# one\nPROFILE_WITH_STACK=perhaps"), {"line 2", "PROFILE_WITH_STACK=perhaps", "neither true nor false"});
  expectWords(refused("PROFILE_WITH_STACK=1\n\nACTIVITIES_DURATION_MSECS=500"),
              {"line 3", "ACTIVITIES_DURATION_MSECS", "cannot be honoured", "REQUEST_TRACE_ID", "PROFILE_WITH_MODULES"});
  expectWords(refused("=1"), {"line 1", "cannot be honoured"});
  expectWords(refusal([] { kineto_prepare_trace({}); }), {"No activities"});
  kineto_start_trace();
  EXPECT_FALSE(saved(*kineto_stop_trace()).has("with_stack")) << "what was refused prepared nothing";
}

TEST(DevicesOfActivities, AreRightForEveryType) {
  const Warnings warnings;
  const auto expected = [](KinetoType type) {
    switch (type) {
      case KinetoType::GPU_MEMCPY:
      case KinetoType::GPU_MEMSET:
      case KinetoType::CONCURRENT_KERNEL:
      case KinetoType::GPU_USER_ANNOTATION:
      case KinetoType::CUDA_SYNC:
      case KinetoType::CUDA_EVENT:
      case KinetoType::CUDA_PROFILER_RANGE:
      case KinetoType::HARDWARE_COUNTERS: return DeviceType::CUDA;
      case KinetoType::MTIA_CCP_EVENTS:
      case KinetoType::MTIA_INSIGHT:
      case KinetoType::MTIA_COUNTERS: return DeviceType::MTIA;
      case KinetoType::HPU_OP: return DeviceType::HPU;
      case KinetoType::XPU_SCOPE_PROFILER:
      case KinetoType::XPU_SYNC: return DeviceType::XPU;
      default: return DeviceType::CPU;
    }
  };
  for (const KinetoType type : libkineto::activityTypes())
    EXPECT_EQ(deviceTypeFromActivity(type), expected(type)) << libkineto::toString(type);
  EXPECT_EQ(warnings.count(), 0u);
}

TEST(DevicesOfActivities, OfNoTypeAreTheCpuWithAWarning) {
  const Warnings warnings;
  EXPECT_EQ(deviceTypeFromActivity(KinetoType::ENUM_COUNT), DeviceType::CPU);
  EXPECT_EQ(deviceTypeFromActivity(static_cast<KinetoType>(200)), DeviceType::CPU);
  ASSERT_EQ(warnings.count(), 2u);
  expectWords(warnings.all()[1], {"Unknown activity type", "200", "CPU"});
}

}  // namespace
}  // namespace xsigma::profiler
