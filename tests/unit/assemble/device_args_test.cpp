// The arguments of device events: JSON whatever a capture says, and not without end.
#include "assemble/device_args.h"

#include <gtest/gtest.h>

#include "assembled.h"
#include "hand_device.h"
#include "parsed_json.h"

namespace xsigma::profiler::test {
namespace {

using assemble::isSoundForm;
using parsed::Json;

TEST(DeviceArgs, AFormIsSoundIfItIsJsonWhateverTheValues) {
  EXPECT_TRUE(isSoundForm("\"a\": \1"));
  EXPECT_TRUE(isSoundForm("\"grid\": [\1, \1,\1 ], \"ratio\": \2, \"why\": \3, \"rate\" : \4"));
  EXPECT_TRUE(isSoundForm("\"inside\": {\"a\": \1}, \"text\": \"\\\"\", \"b\": \1"));
  EXPECT_TRUE(isSoundForm("\"plain\": \"no value\""));
}

TEST(DeviceArgs, AFormThatOnlySomeValuesMakeJsonOfIsNot) {
  EXPECT_FALSE(isSoundForm("\"a\": 1\1")) << "10 with 0, 1-5 with -5";
  EXPECT_FALSE(isSoundForm("\"a\": -\1")) << "-0 with 0, --5 with -5";
  EXPECT_FALSE(isSoundForm("\"a\": \1.5")) << "a real may have a point already";
  EXPECT_FALSE(isSoundForm("\"a\": \1\1"));
  EXPECT_FALSE(isSoundForm("\"a\": \1e5"));
  EXPECT_FALSE(isSoundForm("\"a\": \"\2\"")) << "what is no number is written in quotes";
  EXPECT_FALSE(isSoundForm("\"a\": \"\\\", \1, \\\"\""));
  EXPECT_FALSE(isSoundForm("\3: 1"));
  EXPECT_FALSE(isSoundForm("\"a\": {\3: 1}"));
}

TEST(DeviceArgs, AFormThatIsNoJsonIsNot) {
  for (const char* const form :
       {"", "\1", "\"a\"", "\"a\": \1,", "\"a\": \1}, {\"b\": \1", "\"a\": [\1", "\"a\": \1, \"a\": \1", "\"a\": tru"})
    EXPECT_FALSE(isSoundForm(form)) << form;
  EXPECT_FALSE(isSoundForm("\"Captured in\": \1")) << "a key of our own would stand twice";
}

Json kernelArgs(HandCapture& capture) {
  const Json trace = parsed::json(exportText(capture.finish(1000)));
  return parsed::traceEvents(trace, "k", "X").at(0)["args"];
}

TEST(DeviceArgs, ValuesOfEveryKindAreWrittenAtTheirExtremes) {
  HandCapture capture;
  HandDevice device(capture);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const int64_t odd = capture.site("a \"text\"\n");
  device.kernel("k", 1, 7, 100, 200, "\"i\": \1, \"nan\": \2, \"text\": \3, \"none\": \3, \"rate\": \4, \"missing\": \1",
                {INT64_MIN, std::bit_cast<int64_t>(nan), odd, 999'999, INT64_MAX});
  const Json args = kernelArgs(capture);
  EXPECT_EQ(args["i"].text, "-9223372036854775808");
  EXPECT_EQ(args["nan"].text, "NaN");
  EXPECT_EQ(args["text"].text, "a \"text\"\n");
  EXPECT_EQ(args["none"].text, "");
  EXPECT_NEAR(args["rate"].number, static_cast<double>(INT64_MAX) / 100, 1e6);
  EXPECT_EQ(args["missing"].text, "0");
}

TEST(DeviceArgs, AFormThatIsNotSoundIsLeftOut) {
  HandCapture capture;
  HandDevice device(capture);
  device.kernel("k", 1, 7, 100, 200, "\"a\": 1\1", {-5});
  EXPECT_FALSE(kernelArgs(capture).has("a"));
}

TEST(DeviceArgs, WhatIsTooLongEndsAfterAWholeArgumentAndSaysSo) {
  HandCapture capture;
  HandDevice device(capture);
  const std::string text(20'000, 'x');
  const int64_t site = capture.site(text);
  device.kernel("k", 1, 7, 100, 200, "\"a\": \3, \"b\": {\"c\": [\3, \1], \"d\": \1}, \"e\": [\3, \3], \"f\": \1",
                {site, site, 1, 2, site, site, 3});
  device.kernel("short", 2, 7, 300, 400, "\"a\": \1", {1});
  const Json trace = parsed::json(exportText(capture.finish(1000)));
  const Json args = parsed::traceEvents(trace, "k", "X").at(0)["args"];
  EXPECT_EQ(args["a"].text, text);
  EXPECT_EQ(args["b"]["c"].items.at(0).text, text);
  EXPECT_EQ(args["b"]["d"].text, "2");
  EXPECT_FALSE(args.has("e")) << "it would end beyond 64 KiB";
  EXPECT_FALSE(args.has("f"));
  EXPECT_TRUE(args["args cut"].boolean);
  EXPECT_FALSE(parsed::traceEvents(trace, "short", "X").at(0)["args"].has("args cut"));
  EXPECT_EQ(trace["xsigmaAssembly"]["args_cut"].number, 1);
}

TEST(DeviceArgs, AnEventMayHaveSixtyFourKibibytesAndNotOneMore) {
  for (const size_t beyond : {0, 1}) {
    HandCapture capture;
    HandDevice device(capture);
    const std::string key = "\"a\": \"\", \"b\": \"\"";
    const int64_t half = capture.site(std::string(30'000, 'x'));
    const int64_t rest = capture.site(std::string(assemble::kMostArgBytes - 30'000 - key.size() + beyond, 'y'));
    device.kernel("k", 1, 7, 100, 200, "\"a\": \3, \"b\": \3", {half, rest});
    const Json args = kernelArgs(capture);
    EXPECT_TRUE(args.has("a"));
    EXPECT_EQ(args.has("b"), beyond == 0);
    EXPECT_EQ(args.has("args cut"), beyond == 1);
  }
}

// A long form on many short records: a small capture must not become gigabytes.
TEST(DeviceArgs, AllArgumentsTogetherStayInProportionToTheCapture) {
  HandCapture capture;
  HandDevice device(capture);
  const std::string form = "\"a\": \"" + std::string(60'000, 'x') + "\"";
  constexpr size_t kKernels = 2000;
  for (size_t i = 0; i < kKernels; ++i) device.kernel("k", 0, 7, 100 + 10 * i, 105 + 10 * i, form);
  const std::vector<char> bytes = capture.bytes(1'000'000);
  size_t args = 0;
  size_t events = 0;
  const TraceTotals totals = assembleTrace(HandCapture::open(bytes))->forEachBatch([&](EventBatch& batch) {
    for (const TraceEvent& event : batch.events) {
      ++events;
      args += batch.details(event)->metadata_json.size();
    }
  });
  EXPECT_EQ(events, kKernels) << "no event is lost";
  EXPECT_GT(totals.args_cut, 0u);
  EXPECT_LT(totals.args_cut, kKernels);
  EXPECT_LT(args, (size_t{17} << 20) + 64 * bytes.size());
}

}  // namespace
}  // namespace xsigma::profiler::test
