// The older names kineto_profiler and ProfilerSession: each does what it says, or says why not.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "../named_backends.h"
#include "../parsed_json.h"
#include "../profiled.h"
#include "../warnings.h"
#include "xsigma/profiler/kineto_profiler.h"
#include "xsigma/profiler/profiler_api.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;
using parsed::Json;

// What the program did: everything but rows, links and the library's own marks.
size_t activities(const Json& trace) {
  size_t found = 0;
  for (const Json& each : trace["traceEvents"].items) {
    const std::string& category = each["cat"].text;
    found += category == "user_annotation" || category == "cpu_op" || category == "cpu_instant_event" || each["ph"].text == "C" ? 1u : 0u;
  }
  return found;
}

kineto_profiler::profiling_config into(const std::string& folder) {
  kineto_profiler::profiling_config config;
  config.output_dir = folder;
  return config;
}

TEST(KinetoProfiler, IsMadeAsTheOldExampleDoes) {
  const auto profiler = xsigma::kineto_profiler::create();
  ASSERT_NE(profiler, nullptr);
  EXPECT_TRUE(xsigma::kineto_profiler::initialize());
  EXPECT_TRUE(xsigma::kineto_profiler::is_initialized());
  EXPECT_FALSE(profiler->is_profiling());
  EXPECT_EQ(profiler->get_config().trace_name, "kineto_trace");
}

TEST(KinetoProfiler, WritesTheFileThatItNamesWithTheEventsThatItCounts) {
  const Folder folder;
  const auto profiler = kineto_profiler::create_with_config(into(folder / "made/for/it"));
  ASSERT_TRUE(profiler->start_profiling());
  EXPECT_TRUE(profiler->is_profiling());
  for (int i = 0; i < 5; ++i) scopeCalled("a");
  std::thread([] { scopeCalled("b"); }).join();
  recordInstant("point");
  const kineto_profiler::profiling_result result = profiler->stop_profiling();
  EXPECT_TRUE(result.success) << result.error_message;
  EXPECT_EQ(result.output_file, folder / "made/for/it/kineto_trace.json");
  EXPECT_EQ(result.activity_count, 7u);
  EXPECT_GT(result.duration_ns, 0);
  const Json trace = parsed::jsonFile(result.output_file);
  EXPECT_EQ(activities(trace), 7u);
  EXPECT_EQ(parsed::traceEvents(trace, "a", "X").size(), 5u);
  EXPECT_EQ(parsed::traceEvents(trace, "b", "X").size(), 1u);
  EXPECT_FALSE(profiler->is_profiling());
}

TEST(KinetoProfiler, KeepsTheFilesOfEarlierRuns) {
  const Folder folder;
  const auto profiler = kineto_profiler::create_with_config(into(folder.path()));
  for (int run = 1; run <= 2; ++run) {
    ASSERT_TRUE(profiler->start_profiling());
    for (int i = 0; i < run; ++i) scopeCalled("a");
    EXPECT_EQ(profiler->stop_profiling().activity_count, static_cast<uint64_t>(run));
  }
  EXPECT_EQ(folder.files(), (Names{"kineto_trace.2.json", "kineto_trace.json"}));
}

TEST(KinetoProfiler, SaysWhatItCannotDoAndCountsNothingThen) {
  const Folder folder;
  const Warnings warnings;
  const auto profiler = kineto_profiler::create_with_config(into("/proc/no/such/folder"));
  const kineto_profiler::profiling_result idle = profiler->stop_profiling();
  EXPECT_FALSE(idle.success);
  expectWords(idle.error_message, {"does not profile", "start_profiling()"});
  ASSERT_TRUE(profiler->start_profiling());
  EXPECT_FALSE(profiler->start_profiling());
  EXPECT_FALSE(profiler->set_config({}));
  const kineto_profiler::profiling_result unwritten = profiler->stop_profiling();
  EXPECT_FALSE(unwritten.success);
  EXPECT_EQ(unwritten.output_file, "");
  EXPECT_EQ(unwritten.activity_count, 0u);
  expectWords(unwritten.error_message, {"/proc/no/such/folder/kineto_trace.json"});
  EXPECT_EQ(warnings.count(), 4u);
  ASSERT_TRUE(profiler->set_config(into(folder.path())));
  ASSERT_TRUE(profiler->start_profiling());
  EXPECT_TRUE(profiler->stop_profiling().success);
}

TEST(KinetoProfiler, TakesItsConfigurationAtItsWord) {
  const Folder folder;
  kineto_profiler::profiling_config config = into(folder.path());
  config.trace_name = "mine";
  config.trace_id = "id 7";
  config.profile_memory = config.record_shapes = true;
  const auto profiler = kineto_profiler::create_with_config(config);
  ASSERT_TRUE(profiler->start_profiling());
  const Json trace = parsed::jsonFile(profiler->stop_profiling().output_file);
  EXPECT_EQ(folder.files(), Names{"mine.json"});
  EXPECT_EQ(trace["trace_id"].text, "id 7");
  EXPECT_EQ(trace["profile_memory"].number, 1);
  EXPECT_EQ(trace["record_shapes"].number, 1);
}

TEST(KinetoProfiler, RecordsTheCpuAndSaysSoWhereThereIsNoGpu) {
  const NamedBackends none("none");
  const Folder folder;
  const Warnings warnings;
  kineto_profiler::profiling_config config = into(folder.path());
  config.enable_gpu_tracing = true;
  const auto profiler = kineto_profiler::create_with_config(config);
  ASSERT_TRUE(profiler->start_profiling());
  scopeCalled("host");
  const kineto_profiler::profiling_result result = profiler->stop_profiling();
  EXPECT_TRUE(result.success) << result.error_message;
  EXPECT_EQ(result.activity_count, 1u);
  const Json trace = parsed::jsonFile(result.output_file);
  EXPECT_EQ(parsed::traceEvents(trace, "host", "X").size(), 1u);
  EXPECT_EQ(trace["xsigmaDevices"]["CUDA"]["recorded"].kind, Json::Kind::boolean);
  EXPECT_FALSE(trace["xsigmaDevices"]["CUDA"]["recorded"].boolean);
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"CUDA is not recorded", "XSIGMA_PROFILER_BACKENDS=none"});
}

TEST(KinetoProfiler, SaysFalseAndWhyIfNothingCanBeRecorded) {
  const NamedBackends none("none");
  const Folder folder;
  const Warnings warnings;
  kineto_profiler::profiling_config config = into(folder.path());
  config.enable_cpu_tracing = false;
  config.enable_gpu_tracing = true;
  const auto profiler = kineto_profiler::create_with_config(config);
  EXPECT_FALSE(profiler->start_profiling());
  config.enable_gpu_tracing = false;
  ASSERT_TRUE(profiler->set_config(config));
  EXPECT_FALSE(profiler->start_profiling());
  ASSERT_EQ(warnings.count(), 2u);
  expectWords(warnings.all()[0], {"kineto_profiler::start_profiling", "XSIGMA_PROFILER_BACKENDS=none"});
  expectWords(warnings.all()[1], {"No activities"});
  EXPECT_EQ(folder.files(), Names{});
}

TEST(TheProfilerSession, RecordsAllThreadsFromAnywhereAndExports) {
  const Folder folder;
  EXPECT_FALSE(profiler_enabled());
  ASSERT_TRUE(ProfilerSession::instance().start());
  EXPECT_TRUE(profiler_enabled());
  EXPECT_TRUE(ProfilerSession::instance().is_active());
  {
    const ScopedActivity outer("outer");
    const ScopedActivity inner(std::string("in") + "ner");
  }
  std::thread([] {
    const ScopedActivity activity("thread");
    EXPECT_TRUE(profiler_enabled());
  }).join();
  std::thread([] { EXPECT_TRUE(ProfilerSession::instance().stop()); }).join();
  EXPECT_FALSE(profiler_enabled());
  EXPECT_EQ(drawn(ProfilerSession::instance().result()->event_tree()), "outer(inner) thread");
  ASSERT_TRUE(ProfilerSession::instance().export_trace(folder / "trace.json"));
  EXPECT_EQ(activities(parsed::jsonFile(folder / "trace.json")), 3u);
}

TEST(TheProfilerSession, SaysFalseAndWhyAtTheWrongTime) {
  const NamedBackends none("none");
  const Folder folder;
  const Warnings warnings;
  ProfilerSession& session = ProfilerSession::instance();
  EXPECT_FALSE(session.stop());
  ASSERT_TRUE(session.start());
  EXPECT_FALSE(session.start());
  EXPECT_FALSE(session.export_trace(folder / "trace.json"));
  ASSERT_TRUE(session.stop());
  EXPECT_FALSE(session.export_trace(folder / "missing/trace.json"));
  EXPECT_FALSE(session.start(kineto(), {ActivityType::CUDA}));
  EXPECT_FALSE(session.is_active());
  ASSERT_EQ(warnings.count(), 5u);
  expectWords(warnings.all()[0], {"ProfilerSession::stop", "not on"});
  expectWords(warnings.all()[1], {"ProfilerSession::start", "already"});
  expectWords(warnings.all()[2], {"ProfilerSession::export_trace", "while the session is on"});
  expectWords(warnings.all()[3], {"missing/trace.json"});
  expectWords(warnings.all()[4], {"ProfilerSession::start", "XSIGMA_PROFILER_BACKENDS=none"});
  EXPECT_EQ(folder.files(), Names{});
}

}  // namespace
}  // namespace xsigma::profiler
