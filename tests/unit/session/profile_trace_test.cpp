// What is in the trace of a cycle beside the scopes of the program: steps, metadata, its id.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <stdexcept>
#include <string>

#include "../parsed_json.h"
#include "../warnings.h"
#include "profile_steps.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;
using parsed::Json;

class AProfilesTrace : public testing::Test {
 protected:
  // Of the last cycle.
  Json trace(const Profile& profile) const {
    profile.exportChromeTrace(folder_ / "trace.json");
    return parsed::jsonFile(folder_ / "trace.json");
  }
  // The traces of all cycles, as they get ready.
  TraceHandler collect() {
    return [this](Profile& ready) { traces_.push_back(trace(ready)); };
  }

  Folder folder_;
  std::vector<Json> traces_;
};

TEST_F(AProfilesTrace, HasAScopePerStepAroundItsWork) {
  Profile profile(scheduled(byText("NWRRS"), collect()));
  runSteps(profile, 6);
  ASSERT_EQ(traces_.size(), 1u);
  for (int step = 0; step < 6; ++step) {
    SCOPED_TRACE(step);
    const auto marks = parsed::traceEvents(traces_[0], "ProfilerStep#" + std::to_string(step), "X");
    const auto work = parsed::traceEvents(traces_[0], "work " + std::to_string(step), "X");
    const bool recorded = step >= 2 && step <= 4;
    ASSERT_EQ(marks.size(), recorded ? 1u : 0u);
    ASSERT_EQ(work.size(), recorded ? 1u : 0u);
    if (!recorded) continue;
    EXPECT_EQ(marks[0]["cat"].text, "user_annotation");
    EXPECT_EQ(marks[0]["tid"].text, work[0]["tid"].text);
    EXPECT_LE(marks[0]["ts"].number, work[0]["ts"].number);
    EXPECT_GE(marks[0]["ts"].number + marks[0]["dur"].number, work[0]["ts"].number + work[0]["dur"].number);
  }
  EXPECT_EQ(drawn(profile.result()->event_tree()), "ProfilerStep#2(work 2) ProfilerStep#3(work 3) ProfilerStep#4(work 4)");
  EXPECT_EQ(traces_[0]["xsigmaAssembly"]["unfinished"].number, 0) << "no half a scope";
  EXPECT_EQ(traces_[0]["xsigmaAssembly"]["unmatched"].number, 0) << "no half a scope";
  EXPECT_EQ(traces_[0]["iterations"].number, 3);
}

TEST_F(AProfilesTrace, HasPresetMetadataInEveryCycleAndOtherMetadataInItsOwn) {
  Profile profile(scheduled(byText("SNS"), collect()));
  profile.presetMetadataJson("model", R"({"layers": 12})");
  profile.start();
  profile.addMetadata("note", "a \"quoted\" text");
  profile.addMetadataJson("batch", "64");
  for (int step = 0; step < 3; ++step) profile.step();
  profile.stop();
  ASSERT_EQ(traces_.size(), 2u);
  for (const Json& each : traces_) EXPECT_EQ(each["model"]["layers"].number, 12);
  EXPECT_EQ(traces_[0]["note"].text, "a \"quoted\" text");
  EXPECT_EQ(traces_[0]["batch"].number, 64);
  EXPECT_FALSE(traces_[1].has("note"));
  EXPECT_FALSE(traces_[1].has("batch"));
}

TEST_F(AProfilesTrace, RefusesMetadataThatIsNoJson) {
  Profile profile(scheduled(byText("S")));
  profile.start();
  expectWords(refusal([&] { profile.addMetadataJson("key", "plain text"); }), {"key", "not JSON", "plain text"});
  expectWords(refusal([&] { profile.presetMetadataJson("key", "{"); }), {"key", "not JSON"});
  profile.stop();
  EXPECT_FALSE(trace(profile).has("key"));
}

TEST_F(AProfilesTrace, LeavesOutMetadataThatComesWhileNothingIsRecordedAndSaysSo) {
  Profile profile(scheduled(byText("NS")));
  profile.start();
  {
    const Warnings warnings;
    profile.addMetadata("early", "text");
    ASSERT_EQ(warnings.count(), 1u);
    expectWords(warnings.all()[0], {"early", "presetMetadataJson"});
  }
  profile.step();
  profile.stop();
  EXPECT_FALSE(trace(profile).has("early"));
}

TEST_F(AProfilesTrace, HasARandomIdPerCycle) {
  Profile profile(scheduled(byText("SWSNS"), collect()));
  EXPECT_EQ(profile.traceId(), "");
  runSteps(profile, 5);
  ASSERT_EQ(traces_.size(), 3u);
  std::set<std::string> ids;
  for (const Json& each : traces_) {
    const std::string id = each["trace_id"].text;
    EXPECT_TRUE(std::regex_match(id, std::regex("[0-9A-F]{12}4[0-9A-F]{3}[89AB][0-9A-F]{15}"))) << id;
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_EQ(profile.traceId(), traces_[2]["trace_id"].text) << "of the last cycle";
}

TEST_F(AProfilesTrace, HasTheIdOfTheCallbackCalledOncePerCycle) {
  int calls = 0;
  ProfileOptions options = scheduled(byText("WWRSWS"), collect());
  options.trace_id_callback = [&] { return "job \"" + std::to_string(++calls) + "\""; };
  Profile profile(std::move(options));
  runSteps(profile, 6);
  ASSERT_EQ(traces_.size(), 2u);
  EXPECT_EQ(traces_[0]["trace_id"].text, "job \"1\"");
  EXPECT_EQ(traces_[1]["trace_id"].text, "job \"2\"");
  EXPECT_EQ(calls, 2);
}

TEST_F(AProfilesTrace, HasARandomIdIfTheCallbackThrows) {
  const Warnings warnings;
  ProfileOptions options = scheduled(byText("S"));
  options.trace_id_callback = []() -> std::string { throw std::runtime_error("no id"); };
  Profile profile(std::move(options));
  runSteps(profile, 1);
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"trace id callback", profile.traceId()});
  EXPECT_EQ(trace(profile)["trace_id"].text.size(), 32u);
}

TEST_F(AProfilesTrace, SaysWhatWasAskedFor) {
  ProfileOptions options;
  options.record_shapes = options.profile_memory = options.with_stack = options.with_flops = options.with_modules = true;
  Profile profile(std::move(options));
  profile.start();
  profile.stop();
  const Json all = trace(profile);
  for (const char* const key : {"record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules"})
    EXPECT_EQ(all[key].number, 1) << key;
  Profile plain;
  plain.start();
  plain.stop();
  const Json none = trace(plain);
  for (const char* const key : {"record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules"})
    EXPECT_FALSE(none.has(key)) << key;
}

}  // namespace
}  // namespace xsigma::profiler
