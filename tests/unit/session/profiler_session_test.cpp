// The older names profiler_session and its builder: each option works, or is refused by name.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "../parsed_json.h"
#include "../profiled.h"
#include "../warnings.h"
#include "xsigma/profiler/profiler_session.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;
using parsed::Json;

// outer(inner inner), twice; 300 bytes at most are held at once.
void work() {
  static char memory[2];
  for (int i = 0; i < 2; ++i) {
    XSIGMA_PROFILE_SCOPE("outer");
    reportMemoryUsage(&memory[0], 100, 100, 100);
    scopeCalled("inner");
    reportMemoryUsage(&memory[1], 200, 300, 300);
    reportMemoryUsage(&memory[1], -200, 100, 300);
    scopeCalled("inner");
    reportMemoryUsage(&memory[0], -100, 0, 300);
  }
}

std::unique_ptr<profiler_session> recorded(const profiler_session_builder& builder) {
  std::unique_ptr<profiler_session> session = builder.build();
  EXPECT_TRUE(session->start());
  work();
  EXPECT_TRUE(session->stop());
  return session;
}

TEST(ASession, IsTheCurrentOneWhileItIsOn) {
  const auto session = profiler_session_builder().build();
  EXPECT_EQ(profiler_session::current_session(), nullptr);
  ASSERT_TRUE(session->start());
  EXPECT_EQ(profiler_session::current_session(), session.get());
  EXPECT_TRUE(session->is_active());
  {
    const Warnings warnings;
    const auto second = profiler_session_builder().build();
    EXPECT_FALSE(second->start());
    EXPECT_FALSE(second->stop());
    EXPECT_FALSE(session->start());
    EXPECT_EQ(warnings.count(), 3u);
  }
  EXPECT_EQ(profiler_session::current_session(), session.get());
  ASSERT_TRUE(session->stop());
  EXPECT_EQ(profiler_session::current_session(), nullptr);
  {
    const auto third = profiler_session_builder().build();
    ASSERT_TRUE(third->start());
  }
  EXPECT_EQ(profiler_session::current_session(), nullptr);
  EXPECT_FALSE(profilerEnabled());
}

TEST(ASession, WritesTheTraceAndTheReport) {
  const Folder folder;
  const auto session = recorded(profiler_session_builder().with_timing().with_thread_safety());
  ASSERT_TRUE(session->write_chrome_trace(folder / "trace.json"));
  EXPECT_EQ(parsed::traceEvents(parsed::jsonFile(folder / "trace.json"), "inner", "X").size(), 4u);
  const std::string report = session->generate_report();
  expectWords(report, {"Name", "Self CPU", "outer", "inner"});
  EXPECT_EQ(report.find("Scopes by caller"), std::string::npos);
  EXPECT_EQ(report.find("Peak memory"), std::string::npos);
  EXPECT_EQ(report.find("p95"), std::string::npos);
  EXPECT_EQ(report.find("Mem"), std::string::npos);
  std::ostringstream printed;
  session->print_report(printed);
  EXPECT_EQ(printed.str(), report);
  ASSERT_TRUE(session->export_report(folder / "report.txt"));
  EXPECT_EQ(contents(folder / "report.txt"), report);
}

TEST(ASession, ReportsWhatTheBuilderWasAskedFor) {
  const std::string report =
      recorded(profiler_session_builder().with_statistical_analysis().with_hierarchical_profiling().with_peak_memory_tracking())
          ->generate_report();
  expectWords(report, {"Mem", "Peak memory: 300 bytes\n", "Scopes by caller:\n  outer: 2 calls, ", "\n    inner: 4 calls, "});
  const auto columns = [](const profiler_session_builder& builder) {
    const std::string text = recorded(builder)->generate_report();
    return text.substr(0, text.find("outer"));
  };
  const std::string plain = columns(profiler_session_builder());
  EXPECT_NE(columns(profiler_session_builder().with_percentiles()), plain);
  EXPECT_NE(columns(profiler_session_builder().with_memory_deltas()), plain);
  EXPECT_NE(columns(profiler_session_builder().with_memory_tracking()), plain);
}

TEST(ASession, ReportsAsJsonWithTheTree) {
  const std::string report = recorded(profiler_session_builder()
                                          .with_output_format(profiler_output_format::JSON)
                                          .with_hierarchical_profiling()
                                          .with_peak_memory_tracking())
                                 ->generate_report();
  const Json json = parsed::json(report);
  EXPECT_EQ(json["peak_memory_bytes"].number, 300);
  ASSERT_EQ(json["tree"].items.size(), 1u);
  const Json& outer = json["tree"].items[0];
  EXPECT_EQ(outer["name"].text, "outer");
  EXPECT_EQ(outer["calls"].number, 2);
  ASSERT_EQ(outer["children"].items.size(), 1u);
  EXPECT_EQ(outer["children"].items[0]["calls"].number, 4);
  EXPECT_GE(outer["total_ns"].number, outer["children"].items[0]["total_ns"].number);
  EXPECT_NE(json["averages"].kind, Json::Kind::null);
  expectWords(report, {"inner"});
}

void recurse(int depth) {
  XSIGMA_PROFILE_SCOPE("recurse");
  if (depth > 1) recurse(depth - 1);
}

TEST(ASession, ReportsDeepRecursionInProportion) {
  constexpr int kDepth = 2000;
  for (const auto format : {profiler_output_format::CONSOLE, profiler_output_format::JSON}) {
    const auto session = profiler_session_builder().with_hierarchical_profiling().with_output_format(format).build();
    ASSERT_TRUE(session->start());
    recurse(kDepth);
    ASSERT_TRUE(session->stop());
    const std::string report = session->generate_report();
    EXPECT_LT(report.size(), 150u * kDepth);  // lines that are indented by their level have 2000 on average
    if (format == profiler_output_format::JSON) {
      EXPECT_EQ(std::count(report.begin(), report.end(), '['), std::count(report.begin(), report.end(), ']'));
      continue;
    }
    expectWords(report, {"\n" + std::string(80, ' ') + "recurse: 1 calls", "\n" + std::string(80, ' ') + "[level 41] recurse: 1 calls",
                         "[level 2000] recurse", "below 40 are not indented"});
    EXPECT_EQ(report.find("[level 40]"), std::string::npos);
  }
}

TEST(ASession, TellsScopesOfOneNameApartByTheirCaller) {
  const auto session = profiler_session_builder().with_hierarchical_profiling().build();
  ASSERT_TRUE(session->start());
  for (const char* const caller : {"first", "second", "first"}) {
    RecordFunction outer(RecordScope::FUNCTION);
    outer.before(caller);
    scopeCalled("shared");
  }
  ASSERT_TRUE(session->stop());
  const std::string report = session->generate_report();
  const std::string tree = report.substr(report.find("Scopes by caller"));
  expectWords(tree, {"\n  first: 2 calls", "\n    shared: 2 calls", "\n  second: 1 calls", "\n    shared: 1 calls"});
}

TEST(ASession, WritesItsOutputFileWhenItStops) {
  const Folder folder;
  recorded(profiler_session_builder().with_output_format(profiler_output_format::CSV).with_output_file(folder / "report.csv"));
  const std::string csv = contents(folder / "report.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3) << csv;
  const Warnings warnings;
  const auto session = profiler_session_builder().with_output_file(folder / "missing/report").build();
  ASSERT_TRUE(session->start());
  EXPECT_FALSE(session->stop());
  EXPECT_FALSE(session->is_active());
  ASSERT_GE(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"missing/report"});
}

TEST(ASession, ReportsNothingBeforeItHasRecorded) {
  const auto session = profiler_session_builder().build();
  expectWords(refusal([&] { session->generate_report(); }), {"no cycle"});
  const Warnings warnings;
  EXPECT_FALSE(session->export_report("report.txt"));
  EXPECT_FALSE(session->write_chrome_trace("trace.json"));
  EXPECT_EQ(warnings.count(), 2u);
  EXPECT_FALSE(recorded(profiler_session_builder())->export_report()) << "no file was named";
  expectWords(warnings.all().back(), {"with_output_file()"});
}

TEST(ABuilder, RefusesByNameWhatItCannotHonour) {
  using Builder = profiler_session_builder;
  expectWords(refusal([] { Builder().with_timing(false).build(); }), {"with_timing(false)"});
  expectWords(refusal([] { Builder().with_thread_safety(false).build(); }), {"with_thread_safety(false)"});
  expectWords(refusal([] { Builder().with_max_samples(1000).build(); }), {"with_max_samples"});
  expectWords(refusal([] { Builder().with_thread_pool_size(4).build(); }), {"with_thread_pool_size"});
  expectWords(refusal([] { Builder().with_output_format(profiler_output_format::STRUCTURED).build(); }),
              {"with_output_format(STRUCTURED)", "JSON"});
  const Builder csv = Builder().with_output_format(profiler_output_format::CSV);
  expectWords(refusal([&] { Builder(csv).with_hierarchical_profiling().build(); }), {"with_hierarchical_profiling", "CSV"});
  expectWords(refusal([&] { Builder(csv).with_peak_memory_tracking().build(); }), {"with_peak_memory_tracking", "CSV"});
  EXPECT_NE(Builder().with_max_samples(0).with_thread_pool_size(0).build(), nullptr);
}

}  // namespace
}  // namespace xsigma::profiler
