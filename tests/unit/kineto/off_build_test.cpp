// A library without XSIGMA_ENABLE_KINETO: every call that would need it says what is missing, the others are harmless. The sources that such a
// library has in place of others are part of this program.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../profiled.h"
#include "../warnings.h"
#include "xsigma/profiler/kineto_profiler.h"
#include "xsigma/profiler/kineto_shim.h"
#include "xsigma/profiler/profiler_api.h"
#include "xsigma/profiler/profiler_session.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;
namespace shim = impl::kineto;

TEST(WithoutKineto, EveryCallThatNeedsItSaysSoByName) {
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"prepareProfiler", [] { prepareProfiler(kineto(), kCpu); }},
      {"enableProfiler", [] { enableProfiler(kineto(), kCpu); }},
      {"enableProfilerWithEventPostProcess", [] { enableProfilerWithEventPostProcess(kineto(), kCpu, nullptr); }},
      {"disableProfiler", [] { disableProfiler(); }},
      {"enableProfilerInChildThread", [] { enableProfilerInChildThread(); }},
      {"disableProfilerInChildThread", [] { disableProfilerInChildThread(); }},
      {"toggleCollectionDynamic", [] { toggleCollectionDynamic(true, kCpu); }},
      {"addMetadataJson", [] { addMetadataJson("key", "1"); }},
      {"ProfilerResult::save", [] { ProfilerResult().save("trace.json"); }},
      {"prepareTrace", [] { shim::prepareTrace(true, kCpu); }},
      {"startTrace", [] { shim::startTrace(); }},
      {"stopTrace", [] { shim::stopTrace(); }},
      {"toggleCollectionDynamic", [] { shim::toggleCollectionDynamic(true); }},
      {"TraceWrapper::transferCpuTrace", [] { shim::TraceWrapper(0, "name").transferCpuTrace(1); }},
      {"TraceWrapper::addCPUActivity",
       [] { shim::TraceWrapper(0, "name").addCPUActivity("a", libkineto::ActivityType::CPU_OP, {}, 1, 1, 2); }},
      {"ActivityTraceWrapper::save", [] { ActivityTraceWrapper().save("trace.json"); }},
      {"kineto_prepare_trace", [] { kineto_prepare_trace(); }},
      {"kineto_start_trace", [] { kineto_start_trace(); }},
      {"kineto_stop_trace", [] { kineto_stop_trace(); }},
      {"assembleTrace", [] { assembleTrace(Capture()); }},
      {"analyzeMemory", [] { analyzeMemory(Capture()); }},
      {"startMemoryProfile", [] { startMemoryProfile(); }},
      {"stopMemoryProfile", [] { stopMemoryProfile(); }},
      {"memoryProfile", [] { memoryProfile(); }},
      {"exportMemoryProfile", [] { exportMemoryProfile("memory.html"); }},
      {"Profile::start", [] { Profile().start(); }},
      {"Profile::start", [] { const ScopedProfile profile; }},
      {"Profile::stop", [] { Profile().stop(); }},
      {"Profile::save", [] { Profile().save("trace.json"); }},
      {"Profile::result", [] { Profile().result(); }},
      {"ProfilerGuard", [] { const ProfilerGuard guard("trace.json"); }},
      {"ProfilerGuard", [] { const ProfilerGuard guard(kineto(), kCpu); }},
  };
  for (const auto& [name, call] : calls)
    expectWords(refusal(call), {name, "built with XSIGMA_ENABLE_KINETO=OFF", "Build it with XSIGMA_ENABLE_KINETO=ON"});
}

TEST(WithoutKineto, RecordingAndExportingAreRefusedWithAReason) {
  const Expected<Recording> recording = startRecording();
  ASSERT_FALSE(recording.ok());
  EXPECT_EQ(recording.status().code(), StatusCode::unsupported);
  expectWords(recording.message(), {"XSIGMA_ENABLE_KINETO"});
  const Expected<ExportReport> exported = exportCapture(Capture(), "trace.json");
  EXPECT_EQ(exported.status().code(), StatusCode::unsupported);
  expectWords(exported.message(), {"trace.json", "XSIGMA_ENABLE_KINETO=ON"});
  EXPECT_TRUE(allExporters().empty());
  EXPECT_EQ(MemoryProfile().save("memory.html").code(), StatusCode::unsupported);
}

TEST(WithoutKineto, InitSaysNoAndWhy) {
  const Warnings warnings;
  EXPECT_FALSE(kineto_init(false, false));
  EXPECT_EQ(warnings.count(), 0u);
  EXPECT_FALSE(kineto_init());
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"kineto_init", "XSIGMA_ENABLE_KINETO=ON"});
}

TEST(WithoutKineto, TheOlderNamesSayFalseAndWhy) {
  const Warnings warnings;
  const auto profiler = kineto_profiler::create();
  EXPECT_FALSE(kineto_profiler::is_initialized());
  EXPECT_FALSE(profiler->start_profiling());
  EXPECT_FALSE(profiler->stop_profiling().success);
  EXPECT_FALSE(ProfilerSession::instance().start());
  EXPECT_FALSE(profiler_session_builder().build()->start());
  EXPECT_EQ(warnings.count(), 5u);
  for (const size_t each : {0u, 1u, 3u, 4u}) expectWords(warnings.all()[each], {"XSIGMA_ENABLE_KINETO=ON"});
}

TEST(WithoutKineto, WhatCanBeAskedAnswersThatThereIsNothing) {
  EXPECT_FALSE(isProfilerEnabledInMainThread());
  EXPECT_FALSE(profilerEnabled());
  EXPECT_EQ(KinetoThreadLocalState::get(true), nullptr);
  const ProfilerResult result;
  EXPECT_TRUE(result.events().empty());
  EXPECT_TRUE(result.event_tree().empty());
  EXPECT_EQ(result.ledger().attempted, 0u);
  EXPECT_FALSE(static_cast<bool>(ActivityTraceWrapper()));
  EXPECT_FALSE(static_cast<bool>(shim::TraceWrapper(0, "name")));
}

TEST(WithoutKineto, CallsThatOnlyMarkAreHarmless) {
  const Warnings warnings;
  profilerStep();
  reportBackendEventToActiveKinetoProfiler(1, 2, 3, RecordScope::FUNCTION, "event", "backend");
  shim::pushCorrelationId(1);
  shim::popCorrelationId();
  shim::pushUserCorrelationId(1);
  shim::popUserCorrelationId();
  shim::recordThreadInfo();
  scopeCalled("not recorded");
  EXPECT_EQ(warnings.count(), 0u);
  shim::logInvariantViolation("a < b", "a was 7", "", "");
  EXPECT_EQ(warnings.count(), 1u);
}

TEST(WithoutKineto, CallbacksStay) {
  int starts = 0;
  static int* counted = &starts;
  const CallbackHandle handle = addGlobalCallback(RecordFunctionCallback([](const RecordFunction&) -> std::unique_ptr<ObserverContext> {
    ++*counted;
    return nullptr;
  }));
  scopeCalled("a");
  XSIGMA_RECORD_FUNCTION("b", {});
  removeCallback(handle);
  EXPECT_EQ(starts, 2);
}

}  // namespace
}  // namespace xsigma::profiler
