// Inputs and outputs of a function, read back from the capture.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../recorded.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

using recorded::record;

using Kind = InputValue::Kind;

std::vector<recorded::Seen> inputRecords(const Capture& capture) { return recorded::all(capture, RecordKind::inputs); }

TEST(RecordedInputs, OfEveryPlainKindComeBack) {
  const Capture capture = record([] {
    XSIGMA_RECORD_FUNCTION(
        "f", {nullptr, true, false, 42, std::numeric_limits<int64_t>::min(), 2.5, "text", std::string_view("nul\0in", 6), ""});
  });
  const std::vector<recorded::Seen> records = inputRecords(capture);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].role, InputRole::inputs);
  EXPECT_FALSE(records[0].inputs_cut);
  const std::vector<RecordedInput>& inputs = records[0].inputs;
  ASSERT_EQ(inputs.size(), 9u);
  EXPECT_EQ(inputs[0].kind, Kind::none);
  EXPECT_EQ(inputs[1].kind, Kind::boolean);
  EXPECT_EQ(inputs[1].integer, 1);
  EXPECT_EQ(inputs[2].kind, Kind::boolean);
  EXPECT_EQ(inputs[2].integer, 0);
  EXPECT_EQ(inputs[3].kind, Kind::integer);
  EXPECT_EQ(inputs[3].integer, 42);
  EXPECT_EQ(inputs[4].integer, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(inputs[5].kind, Kind::real);
  EXPECT_EQ(inputs[5].real, 2.5);
  EXPECT_EQ(inputs[6].kind, Kind::string);
  EXPECT_EQ(inputs[6].text, "text");
  EXPECT_EQ(inputs[7].text, std::string("nul\0in", 6));
  EXPECT_EQ(inputs[8].kind, Kind::string);
  EXPECT_EQ(inputs[8].text, "");
}

TEST(RecordedInputs, StandBeforeTheBeginOfTheirFunction) {
  const Capture capture = record([] { XSIGMA_RECORD_FUNCTION("f", {1}); });
  const std::vector<recorded::Seen> records = recorded::all(capture);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].kind, RecordKind::inputs);
  EXPECT_EQ(records[1].kind, RecordKind::scope_begin);
  EXPECT_EQ(records[1].name, "f");
  EXPECT_EQ(records[0].ticks, records[1].ticks);
}

TEST(RecordedInputs, KeepTheShapesOfTensors) {
  const float data[6] = {};
  const int64_t sizes[] = {2, 3};
  const int64_t strides[] = {3, 1};
  const int64_t large[] = {int64_t{1} << 40, -1, 0};
  const Capture capture = record([&] {
    XSIGMA_RECORD_FUNCTION("mm", {TensorInfo{data, sizes, strides, 2, "float", {DeviceType::CUDA, 3}},
                                  TensorInfo{nullptr, large, nullptr, 3, "c10::BFloat16", {DeviceType::CPU, -1}},
                                  TensorInfo{.dim = 0, .dtype = nullptr, .device = {DeviceType::PrivateUse1, 127}}});
  });
  ASSERT_EQ(inputRecords(capture).size(), 1u);
  const std::vector<RecordedInput> inputs = inputRecords(capture)[0].inputs;
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs[0].kind, Kind::tensor);
  EXPECT_EQ(inputs[0].address, reinterpret_cast<uint64_t>(data));
  EXPECT_EQ(inputs[0].sizes, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(inputs[0].strides, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(inputs[0].text, "float");
  EXPECT_EQ(inputs[0].device, (Device{DeviceType::CUDA, 3}));
  EXPECT_EQ(inputs[1].sizes, (std::vector<int64_t>{int64_t{1} << 40, -1, 0}));
  EXPECT_TRUE(inputs[1].strides.empty());
  EXPECT_EQ(inputs[1].text, "c10::BFloat16");
  EXPECT_EQ(inputs[1].device, (Device{DeviceType::CPU, -1}));
  EXPECT_TRUE(inputs[2].sizes.empty());
  EXPECT_EQ(inputs[2].text, "");
  EXPECT_EQ(inputs[2].device, (Device{DeviceType::PrivateUse1, 127}));
}

TEST(RecordedInputs, KeepListsWithinLists) {
  const int64_t sizes[] = {4};
  const std::vector<InputValue> deepest = {"deep", TensorInfo{.sizes = sizes, .dim = 1, .dtype = "int"}};
  const std::vector<InputValue> middle = {1, InputList(deepest), 2};
  const std::vector<InputValue> inputs = {InputList(middle), InputList(), 3.5};
  const Capture capture = record([&] { XSIGMA_RECORD_FUNCTION("cat", inputs); });
  ASSERT_EQ(inputRecords(capture).size(), 1u);
  const std::vector<RecordedInput> found = inputRecords(capture)[0].inputs;
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].kind, Kind::list);
  ASSERT_EQ(found[0].items.size(), 3u);
  EXPECT_EQ(found[0].items[0].integer, 1);
  ASSERT_EQ(found[0].items[1].items.size(), 2u);
  EXPECT_EQ(found[0].items[1].items[0].text, "deep");
  EXPECT_EQ(found[0].items[1].items[1].sizes, std::vector<int64_t>{4});
  EXPECT_EQ(found[0].items[2].integer, 2);
  EXPECT_EQ(found[1].kind, Kind::list);
  EXPECT_TRUE(found[1].items.empty());
  EXPECT_EQ(found[2].real, 3.5);
}

TEST(RecordedInputs, KeepKeywordsWithTheirKeys) {
  const KeywordList keywords = {{"alpha", 0.5}, {"mode", "same"}, {"", 7}};
  const Capture capture = record([&] {
    XSIGMA_RECORD_FUNCTION("f", {1}, keywords);
    XSIGMA_RECORD_USER_SCOPE_WITH_KWARGS_ONLY("g", keywords);
  });
  const std::vector<recorded::Seen> records = inputRecords(capture);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].role, InputRole::inputs);
  for (const size_t i : {1, 2}) {
    EXPECT_EQ(records[i].role, InputRole::keyword_inputs);
    EXPECT_EQ(records[i].keys, (std::vector<std::string>{"alpha", "mode", ""}));
    ASSERT_EQ(records[i].inputs.size(), 3u);
    EXPECT_EQ(records[i].inputs[0].real, 0.5);
    EXPECT_EQ(records[i].inputs[1].text, "same");
    EXPECT_EQ(records[i].inputs[2].integer, 7);
  }
}

TEST(RecordedInputs, TooLongToBeKeptAreMarkedAsCut) {
  const std::vector<InputValue> many(100000, InputValue(1));
  const KeywordList keywords(100000, KeywordValue{"key", 1});
  const Capture capture = record([&] { XSIGMA_RECORD_FUNCTION("f", many, keywords, 5); });
  const std::vector<recorded::Seen> records = inputRecords(capture);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_TRUE(records[0].inputs_cut);
  EXPECT_TRUE(records[0].inputs.empty());
  EXPECT_TRUE(records[1].inputs_cut);
  EXPECT_EQ(records[1].role, InputRole::keyword_inputs);
  EXPECT_EQ(recorded::all(capture, RecordKind::op_info).at(0).sequence_number, 5);
  EXPECT_NE(recorded::scope(capture, "f").end, 0u);
}

TEST(RecordedInputs, AsManyAsFitASmallCaptureAreKept) {
  const CaptureOptions small{.byte_cap = 64 * 1024};
  for (size_t count = 0; count < 3000; count += 61) {
    const std::vector<InputValue> values(count, InputValue(static_cast<int64_t>(count)));
    const Capture capture = record([&] { XSIGMA_RECORD_FUNCTION("f", values); }, small);
    EXPECT_EQ(recorded::names(capture), std::vector<std::string>{"f"});
    if (count == 0) continue;
    ASSERT_EQ(inputRecords(capture).size(), 1u) << count;
    const recorded::Seen found = inputRecords(capture)[0];
    if (!found.inputs_cut) {
      ASSERT_EQ(found.inputs.size(), count);
      EXPECT_EQ(found.inputs.back().integer, static_cast<int64_t>(count));
    }
    EXPECT_EQ(found.inputs_cut && count < 100, false);
  }
}

TEST(RecordedInputs, AreLeftOutWhereTheyAreNotWanted) {
  bool needed = true;
  const Capture capture = record(
      [&] {
        RecordFunction function;
        needed = function.needsInputs() || function.needsOutputs();
        function.before("f", {1, 2}, KeywordList{{"k", 1}}, 4);
        function.setOutputs({3});
      },
      {.record_inputs = false});
  EXPECT_FALSE(needed);
  EXPECT_TRUE(inputRecords(capture).empty());
  EXPECT_EQ(recorded::all(capture, RecordKind::op_info).at(0).sequence_number, 4);
  EXPECT_EQ(recorded::names(capture), std::vector<std::string>{"f"});
}

TEST(RecordedInputs, OutputsNameTheFunctionTheyBelongTo) {
  uint64_t outer = 0;
  uint64_t inner = 0;
  const Capture capture = record([&] {
    RecordFunction function;
    function.before("outer");
    outer = function.handle();
    {
      RecordFunction nested;
      nested.before("inner");
      inner = nested.handle();
      nested.setOutputs({1, "done"});
    }
    function.setOutputs({2});
  });
  const std::vector<recorded::Seen> records = inputRecords(capture);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].role, InputRole::outputs);
  EXPECT_EQ(records[0].id, inner);
  ASSERT_EQ(records[0].inputs.size(), 2u);
  EXPECT_EQ(records[0].inputs[1].text, "done");
  EXPECT_EQ(records[1].id, outer);
  EXPECT_NE(inner, outer);
}

}  // namespace
}  // namespace xsigma::profiler
