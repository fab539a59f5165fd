// KinetoEvent: what each accessor says of scopes, functions, marks, memory and backend events.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../parsed_json.h"
#include "../profiled.h"
#include "xsigma/profiler/kineto_shim.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;
using libkineto::ActivityType;

uint8_t number(ActivityType type) { return static_cast<uint8_t>(type); }
uint8_t number(RecordScope scope) { return static_cast<uint8_t>(scope); }

void annotated() {
  XSIGMA_PROFILE_FUNCTION();
  XSIGMA_PROFILE_SCOPE("user scope");
}

TEST(AnEvent, OfAScopeHasNameKindThreadAndTimes) {
  const int64_t before = wallNs();
  const auto result = profile([] {
    annotated();
    spin(std::chrono::microseconds(10));
  });
  const int64_t after = wallNs();
  const KinetoEvent function = event(*result, "annotated");
  const KinetoEvent user = event(*result, "user scope");

  EXPECT_EQ(function.overload_name(), "");
  EXPECT_EQ(function.activityType(), number(ActivityType::CPU_OP));
  EXPECT_EQ(user.activityType(), number(ActivityType::USER_ANNOTATION));
  EXPECT_EQ(function.scope(), number(RecordScope::FUNCTION));
  EXPECT_EQ(user.scope(), number(RecordScope::USER_SCOPE));
  EXPECT_EQ(user.startThreadId(), RecordFunction::currentThreadId());
  EXPECT_EQ(user.endThreadId(), RecordFunction::currentThreadId());
  EXPECT_EQ(user.deviceType(), DeviceType::CPU);
  EXPECT_EQ(user.deviceIndex(), getpid());
  EXPECT_EQ(user.deviceResourceId(), syscall(SYS_gettid));
  EXPECT_NE(user.correlationId(), 0u);
  EXPECT_NE(user.correlationId(), function.correlationId());
  EXPECT_EQ(user.linkedCorrelationId(), 0u);
  EXPECT_TRUE(user.isFinished());
  EXPECT_FALSE(user.isAsync());

  constexpr int64_t kTolerance = 1000000;  // two clocks are read one after the other
  EXPECT_GE(result->trace_start_ns(), before - kTolerance);
  EXPECT_GE(function.startNs(), result->trace_start_ns());
  EXPECT_LE(function.startNs(), user.startNs());
  EXPECT_LE(user.endNs(), function.endNs());
  EXPECT_LE(function.endNs(), after + kTolerance);
  EXPECT_EQ(user.durationNs(), user.endNs() - user.startNs());
}

TEST(AnEvent, SaysNothingWhereNothingWasSaid) {
  const auto result = profile(annotated);
  const KinetoEvent plain = event(*result, "annotated");
  EXPECT_EQ(plain.fwdThreadId(), 0u);
  EXPECT_EQ(plain.sequenceNr(), -1);
  EXPECT_EQ(plain.debugHandle(), -1);
  EXPECT_FALSE(plain.hasShapes());
  EXPECT_TRUE(plain.shapes().empty());
  EXPECT_FALSE(plain.hasTypes());
  EXPECT_TRUE(plain.dtypes().empty());
  EXPECT_FALSE(plain.hasConcreteInputs());
  EXPECT_TRUE(plain.concreteInputs().empty());
  EXPECT_FALSE(plain.hasKwinputs());
  EXPECT_TRUE(plain.kwinputs().empty());
  EXPECT_EQ(plain.flops(), 0u);
  EXPECT_FALSE(plain.hasStack());
  EXPECT_FALSE(plain.hasModuleHierarchy());
  EXPECT_EQ(plain.nBytes(), 0);
  EXPECT_EQ(plain.backend(), "");
  EXPECT_FALSE(plain.isHiddenEvent());
  EXPECT_FALSE(plain.isPythonFunction());
  EXPECT_EQ(plain.cudaElapsedUs(), -1);
  EXPECT_EQ(plain.privateuse1ElapsedUs(), -1);
  EXPECT_TRUE(plain.extraMeta().empty());
  EXPECT_EQ(plain.metadataJson(), "");
  std::vector<uint64_t> counters{1};
  plain.getPerfEventCounters(counters);
  EXPECT_TRUE(counters.empty());
}

TEST(AnEvent, KeepsItsResultAlive) {
  std::vector<KinetoEvent> kept;
  {
    const auto result = profile(annotated);
    kept = result->events();
  }
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[1].name(), "user scope");
  EXPECT_EQ(kept[1].stack(), Names{"annotated"});
}

TEST(AnEvent, OfEachScopeSaysWhich) {
  const auto result = profile([] {
    for (size_t i = 0; i < kNumRecordScopes; ++i) {
      RecordFunction function(static_cast<RecordScope>(i));
      function.before("scope " + std::to_string(i));
    }
  });
  for (size_t i = 0; i < kNumRecordScopes; ++i) {
    const KinetoEvent found = event(*result, "scope " + std::to_string(i));
    EXPECT_EQ(found.scope(), i);
    const bool user = static_cast<RecordScope>(i) == RecordScope::USER_SCOPE;
    EXPECT_EQ(found.activityType(), number(user ? ActivityType::USER_ANNOTATION : ActivityType::CPU_OP));
  }
}

TEST(AnEvent, HasSequenceNumberAndForwardThread) {
  const auto result = profile([] {
    { XSIGMA_RECORD_FUNCTION("forward", {}, 42); }
    RecordFunction backward(RecordScope::BACKWARD_FUNCTION);
    backward.setForwardThreadId(17);
    backward.before("backward", 42);
    RecordFunction unnumbered;
    unnumbered.setForwardThreadId(18);
    unnumbered.before("unnumbered");
  });
  EXPECT_EQ(event(*result, "forward").sequenceNr(), 42);
  EXPECT_EQ(event(*result, "forward").fwdThreadId(), 0u);
  EXPECT_EQ(event(*result, "backward").sequenceNr(), 42);
  EXPECT_EQ(event(*result, "backward").fwdThreadId(), 17u);
  EXPECT_EQ(event(*result, "unnumbered").sequenceNr(), -1);
  EXPECT_EQ(event(*result, "unnumbered").fwdThreadId(), 0u);
}

TEST(AnEvent, HasTheDebugHandle) {
  const auto result = profile([] { XSIGMA_RECORD_EDGE_SCOPE_WITH_DEBUG_HANDLE_AND_INPUTS("edge", 123456789012, {}); });
  EXPECT_EQ(event(*result, "edge").debugHandle(), 123456789012);
  EXPECT_EQ(event(*result, "edge").scope(), number(RecordScope::LITE_INTERPRETER));
}

[[gnu::noinline]] void innerFrame() {
  { XSIGMA_PROFILE_SCOPE("literal"); }
  { XSIGMA_PROFILE_SCOPE_DYNAMIC(std::string_view("dynamic")); }
  { XSIGMA_RECORD_FUNCTION("function", {1}); }
  RecordFunction by_hand;
  by_hand.before("by hand");
}
[[gnu::noinline]] void outerFrame() {
  innerFrame();
  spin(std::chrono::nanoseconds(1));  // no tail call
}

TEST(TheStack, IsTheScopesAroundInnermostFirst) {
  const auto result = profile([] {
    XSIGMA_PROFILE_SCOPE("a");
    XSIGMA_PROFILE_SCOPE("b");
    XSIGMA_PROFILE_SCOPE("c");
    recordInstant("mark");
  });
  EXPECT_EQ(event(*result, "c").stack(), (Names{"b", "a"}));
  EXPECT_TRUE(event(*result, "c").hasStack());
  EXPECT_FALSE(event(*result, "a").hasStack());
  EXPECT_EQ(event(*result, "mark").stack(), (Names{"c", "b", "a"}));
}

// Where a frame of that function lies in the stack.
size_t frameOf(const std::vector<std::string>& stack, std::string_view function) {
  const auto found =
      std::find_if(stack.begin(), stack.end(), [&](const std::string& frame) { return frame.find(function) != std::string::npos; });
  return static_cast<size_t>(found - stack.begin());
}

TEST(TheStack, IsTheNativeFramesIfAskedFor) {
  ProfilerConfig config = kineto();
  config.with_stack = true;
  const auto result = profile(
      [] {
        XSIGMA_PROFILE_SCOPE("around");
        outerFrame();
      },
      config);
  for (const char* const name : {"literal", "dynamic", "function", "by hand"}) {
    const std::vector<std::string> stack = event(*result, name).stack();
    EXPECT_EQ(frameOf(stack, "innerFrame"), 0u) << name << ", and nothing of the library inside of it: " << testing::PrintToString(stack);
    EXPECT_EQ(frameOf(stack, "outerFrame"), 1u) << name;
    EXPECT_EQ(frameOf(stack, "around"), stack.size()) << "frames, not scopes";
    EXPECT_LE(stack.size(), 64u);
  }
}

TEST(TheStack, IsTheSameUnderACallback) {
  ProfilerConfig config = kineto();
  config.with_stack = true;
  const CallbackHandle handle =
      addGlobalCallback(RecordFunctionCallback([](const RecordFunction&) -> std::unique_ptr<ObserverContext> { return nullptr; }));
  const auto result = profile(outerFrame, config);
  removeCallback(handle);
  for (const char* const name : {"literal", "dynamic", "function", "by hand"}) {
    const std::vector<std::string> stack = event(*result, name).stack();
    EXPECT_EQ(frameOf(stack, "innerFrame"), 0u) << name << ": " << testing::PrintToString(stack);
  }
}

TEST(TheModuleHierarchy, IsTheClassesAroundOutermostFirst) {
  const auto body = [] {
    XSIGMA_RECORD_FUNCTION_WITH_SCOPE(RecordScope::CUSTOM_CLASS, "Model", {});
    XSIGMA_PROFILE_SCOPE("no class");
    XSIGMA_RECORD_FUNCTION_WITH_SCOPE(RecordScope::CUSTOM_CLASS, "Layer", {});
    XSIGMA_RECORD_FUNCTION("op", {});
  };
  ProfilerConfig config = kineto();
  config.with_modules = true;
  const auto with = profile(body, config);
  EXPECT_EQ(event(*with, "op").moduleHierarchy(), (Names{"Model", "Layer"}));
  EXPECT_TRUE(event(*with, "op").hasModuleHierarchy());
  EXPECT_EQ(event(*with, "Layer").moduleHierarchy(), Names{"Model"}) << "itself is not around it";
  EXPECT_FALSE(event(*with, "Model").hasModuleHierarchy());
  EXPECT_FALSE(event(*profile(body), "op").hasModuleHierarchy()) << "not asked for";
}

TEST(AMemoryEvent, HasBytesDeviceAndPlace) {
  ProfilerConfig config = kineto();
  config.profile_memory = true;
  config.experimental_config.expose_kineto_event_metadata = true;
  char block[64];
  const auto result = profile(
      [&] {
        XSIGMA_PROFILE_SCOPE("allocating");
        reportMemoryUsage(block, 64, 100, 200, {DeviceType::CUDA, 3});
        reportOutOfMemory(1 << 30, 100, 200, {DeviceType::CPU, -1});
      },
      config);
  const KinetoEvent memory = event(*result, "[memory]");
  EXPECT_EQ(memory.nBytes(), 64);
  EXPECT_EQ(memory.deviceType(), DeviceType::CUDA);
  EXPECT_EQ(memory.deviceIndex(), 3);
  EXPECT_EQ(memory.activityType(), number(ActivityType::CPU_INSTANT_EVENT));
  EXPECT_EQ(memory.durationNs(), 0);
  EXPECT_EQ(memory.stack(), Names{"allocating"});
  const parsed::Json members = parsed::json("{" + memory.metadataJson() + "}");
  EXPECT_EQ(members["Bytes"].number, 64);
  EXPECT_EQ(members["Total Allocated"].number, 100);
  EXPECT_EQ(members["Total Reserved"].number, 200);
  EXPECT_EQ(members["Device Type"].number, 1);
  EXPECT_EQ(members["Device Id"].number, 3);

  const KinetoEvent failed = event(*result, "[OutOfMemory]");
  EXPECT_EQ(failed.nBytes(), 1 << 30);
  EXPECT_EQ(failed.deviceType(), DeviceType::CPU);
  EXPECT_EQ(failed.deviceIndex(), -1);
}

int64_t wallUs() { return wallNs() / 1000; }

TEST(ABackendEvent, LiesInTheScopeThatReportedIt) {
  int64_t start = 0;
  int64_t end = 0;
  const auto result = profile([&] {
    XSIGMA_PROFILE_SCOPE("delegate");
    spin(std::chrono::milliseconds(1));
    start = wallUs();
    spin(std::chrono::milliseconds(1));
    end = wallUs();
    spin(std::chrono::milliseconds(1));
    reportBackendEventToActiveKinetoProfiler(start, end, 77, RecordScope::LITE_INTERPRETER, "conv on the NPU", "my \"NPU\" backend");
    scopeCalled("after it");
  });
  const KinetoEvent found = event(*result, "conv on the NPU");
  EXPECT_EQ(found.startNs(), start * 1000);
  EXPECT_EQ(found.endNs(), end * 1000);
  EXPECT_EQ(found.backend(), "my \"NPU\" backend");
  EXPECT_EQ(found.debugHandle(), 77);
  EXPECT_EQ(found.scope(), number(RecordScope::LITE_INTERPRETER));
  EXPECT_EQ(found.activityType(), number(ActivityType::CPU_OP));
  EXPECT_EQ(found.startThreadId(), RecordFunction::currentThreadId());
  EXPECT_EQ(found.stack(), Names{"delegate"});
  EXPECT_EQ(drawn(result->event_tree()), "delegate(conv on the NPU after it)");
  EXPECT_EQ(node(result->event_tree(), "conv on the NPU")->tag(), EventType::Backend);
}

TEST(ABackendEvent, WithoutADebugHandleHasNone) {
  const auto result =
      profile([] { reportBackendEventToActiveKinetoProfiler(wallUs(), wallUs(), -1, RecordScope::FUNCTION, "run", "NPU"); });
  EXPECT_EQ(event(*result, "run").debugHandle(), -1);
  EXPECT_EQ(event(*result, "run").backend(), "NPU");
}

TEST(ABackendEvent, ThatEndsBeforeItStartsHasNoLength) {
  const auto result =
      profile([] { reportBackendEventToActiveKinetoProfiler(wallUs(), wallUs() - 1000, 1, RecordScope::FUNCTION, "run", "NPU"); });
  EXPECT_EQ(event(*result, "run").durationNs(), 0);
}

TEST(ABackendEvent, OnAThreadThatIsNotProfiledIsIgnored) {
  reportBackendEventToActiveKinetoProfiler(wallUs(), wallUs(), 1, RecordScope::FUNCTION, "idle", "NPU");
  const auto result = profile([] {
    std::thread([] { reportBackendEventToActiveKinetoProfiler(wallUs(), wallUs(), 1, RecordScope::FUNCTION, "elsewhere", "NPU"); }).join();
  });
  EXPECT_EQ(names(*result), Names{});
}

TEST(AnAsyncEvent, BeginsAndEndsOnTwoThreads) {
  auto function = std::unique_ptr<RecordFunction>();
  uint64_t other_thread = 0;
  int64_t ended = 0;
  const auto result = profile([&] {
    function = std::make_unique<RecordFunction>();
    function->_setAsync();
    function->before("rpc", 5);
    scopeCalled("meanwhile");
    std::thread([&] {
      enableProfilerInChildThread();
      other_thread = RecordFunction::currentThreadId();
      spin(std::chrono::milliseconds(1));
      function.reset();
      ended = wallNs();
      disableProfilerInChildThread();
    }).join();
    spin(std::chrono::milliseconds(5));
  });
  const KinetoEvent found = event(*result, "rpc");
  EXPECT_TRUE(found.isAsync());
  EXPECT_TRUE(found.isFinished());
  EXPECT_EQ(found.sequenceNr(), 5);
  EXPECT_EQ(found.startThreadId(), RecordFunction::currentThreadId());
  EXPECT_EQ(found.endThreadId(), other_thread);
  EXPECT_GE(found.durationNs(), 1000000);
  EXPECT_LE(found.endNs(), ended + 1000000) << "it does not last until the end of the session";
  EXPECT_FALSE(event(*result, "meanwhile").hasStack()) << "what is async is around nothing";
}

TEST(AnAsyncEvent, MayBeMarkedByHand) {
  const auto result = profile([] {
    recordAsyncBegin("request", 9);
    recordAsyncBegin("request", 10);
    recordAsyncEnd("request", 9);
  });
  size_t finished = 0;
  for (const KinetoEvent& each : result->events()) {
    EXPECT_EQ(each.name(), "request");
    EXPECT_TRUE(each.isAsync());
    finished += each.isFinished();
  }
  EXPECT_EQ(result->events().size(), 2u);
  EXPECT_EQ(finished, 1u);
}

TEST(AnUnfinishedEvent, LastsUntilTheEndAndSaysSo) {
  std::unique_ptr<ProfilerResult> result;
  enableProfiler(kineto(), kCpu);
  {
    XSIGMA_PROFILE_SCOPE("open");
    scopeCalled("done");
    spin(std::chrono::milliseconds(1));
    result = disableProfiler();
    spin(std::chrono::milliseconds(1));
  }
  const KinetoEvent open = event(*result, "open");
  EXPECT_FALSE(open.isFinished());
  EXPECT_GE(open.durationNs(), 1000000);
  EXPECT_TRUE(event(*result, "done").isFinished());
  EXPECT_EQ(drawn(result->event_tree()), "open(done)");
  EXPECT_FALSE(result->event_tree()[0]->finished_);
  EXPECT_EQ(result->ledger().unfinished, 1u);
}

TEST(Metadata, OfTheOpenScopeIsItsExtraMeta) {
  ProfilerConfig config = kineto();
  const auto body = [] {
    XSIGMA_PROFILE_SCOPE("outer");
    recordMetadata("of outer", "1");
    {
      XSIGMA_PROFILE_SCOPE("inner");
      recordMetadata("of inner", "a \"text\"");
      recordMetadata("again", "first");
      recordMetadata("again", "last");
    }
    recordMetadata("later", "2");
  };
  const auto without = profile(body, config);
  const std::unordered_map<std::string, std::string> inner{{"of inner", "a \"text\""}, {"again", "last"}};
  const std::unordered_map<std::string, std::string> outer{{"of outer", "1"}, {"later", "2"}};
  EXPECT_EQ(event(*without, "inner").extraMeta(), inner);
  EXPECT_EQ(event(*without, "outer").extraMeta(), outer);
  EXPECT_EQ(event(*without, "inner").metadataJson(), "");

  config.experimental_config.expose_kineto_event_metadata = true;
  const auto with = profile(body, config);
  const parsed::Json members = parsed::json("{" + event(*with, "inner").metadataJson() + "}");
  EXPECT_EQ(members["of inner"].text, "a \"text\"");
  EXPECT_EQ(members["again"].text, "last");
}

TEST(MetadataJson, HasWhatTheTraceHas) {
  ProfilerConfig config = kineto();
  config.report_input_shapes = true;
  config.experimental_config.expose_kineto_event_metadata = true;
  const auto result = profile([] { XSIGMA_RECORD_FUNCTION("op", {7, "text"}, 3); }, config);
  const parsed::Json members = parsed::json("{" + event(*result, "op").metadataJson() + "}");
  EXPECT_EQ(members["Sequence number"].number, 3);
  EXPECT_EQ(members["Concrete Inputs"].items.at(0).text, "7");
  EXPECT_EQ(members["Input type"].items.at(0).text, "Scalar");
}

TEST(Verbose, PutsTheSourcePlaceIntoTheTrace) {
  ProfilerConfig config = kineto();
  config.experimental_config.verbose = true;
  const Folder folder;
  profile(annotated, config)->save(folder / "verbose.json");
  profile(annotated)->save(folder / "plain.json");
  const parsed::Json verbose = parsed::traceEvents(parsed::jsonFile(folder / "verbose.json"), "annotated", "X").at(0);
  const parsed::Json plain = parsed::traceEvents(parsed::jsonFile(folder / "plain.json"), "annotated", "X").at(0);
  expectWords(verbose["args"]["CallFrom"].text, {"kineto_event_test.cpp:"});
  EXPECT_FALSE(plain["args"].has("CallFrom"));
}

}  // namespace
}  // namespace xsigma::profiler
