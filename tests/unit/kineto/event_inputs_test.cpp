// What an operation was called with, and the floating-point operations that follow from it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../profiled.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;
using Shape = std::vector<int64_t>;
using Kind = InputValue::Kind;

TensorInfo tensor(const Shape& shape, const char* dtype = "float") {
  return TensorInfo{shape.data(), shape.data(), nullptr, static_cast<int>(shape.size()), dtype, {}};
}

ProfilerConfig withShapes() { return ProfilerConfig(ProfilerState::KINETO, true); }
ProfilerConfig withFlops() { return ProfilerConfig(ProfilerState::KINETO, false, false, false, true); }

template <typename Inputs>
KinetoEvent called(const char* name, const Inputs& inputs, const ProfilerConfig& config) {
  const auto result = profile([&] { XSIGMA_RECORD_FUNCTION(name, InputList(inputs)); }, config);
  return event(*result, name);
}

TEST(Inputs, HaveShapesTypesAndValues) {
  const Shape a{2, 3, 4};
  const Shape scalar;
  const std::vector<InputValue> integers{1, 2, 3};
  const std::vector<InputValue> tensors{tensor(a), tensor(a, "double")};
  const std::vector<InputValue> inputs{tensor(a, "c10::Half"), tensor(scalar, "int"), true, 42, 2.5, "text", nullptr,
                                       InputList(integers),    InputList(tensors)};
  const KinetoEvent found = called("op", inputs, withShapes());

  EXPECT_TRUE(found.hasShapes());
  EXPECT_EQ(found.shapes(), (std::vector<Shape>{a, {}, {}, {}, {}, {}, {}, {}, {}}));
  EXPECT_TRUE(found.hasTypes());
  EXPECT_EQ(found.dtypes(), (Names{"c10::Half", "int", "Scalar", "Scalar", "Scalar", "", "", "ScalarList", "TensorList"}));
  EXPECT_TRUE(found.hasConcreteInputs());
  const std::vector<RecordedInput> values = found.concreteInputs();
  ASSERT_EQ(values.size(), 9u);
  EXPECT_EQ(values[0].kind, Kind::tensor);
  EXPECT_EQ(values[2].kind, Kind::boolean);
  EXPECT_EQ(values[2].integer, 1);
  EXPECT_EQ(values[3].integer, 42);
  EXPECT_EQ(values[4].real, 2.5);
  EXPECT_EQ(values[5].text, "text");
  EXPECT_EQ(values[6].kind, Kind::none);
  ASSERT_EQ(values[7].items.size(), 3u);
  EXPECT_EQ(values[7].items[2].integer, 3);
  ASSERT_EQ(values[8].items.size(), 2u);
  EXPECT_EQ(values[8].items[1].sizes, a);
  EXPECT_EQ(values[8].items[1].text, "double");
}

TEST(Inputs, AreNotKeptUnlessAskedFor) {
  const Shape a{2, 2};
  const KinetoEvent found = called("op", std::vector<InputValue>{tensor(a), 1}, kineto());
  EXPECT_FALSE(found.hasShapes());
  EXPECT_FALSE(found.hasTypes());
  EXPECT_FALSE(found.hasConcreteInputs());
}

TEST(Inputs, OfNothingAreNone) { EXPECT_TRUE(called("op", std::vector<InputValue>{}, withShapes()).shapes().empty()); }

TEST(KeywordInputs, ComeBackByName) {
  const auto result = profile(
      [] {
        const KeywordList keywords{{"alpha", 1.5}, {"mode", "fast"}, {"count", 3}};
        XSIGMA_RECORD_USER_SCOPE_WITH_KWARGS_ONLY("keyed", keywords);
        scopeCalled("plain");
      },
      withShapes());
  const KinetoEvent found = event(*result, "keyed");
  EXPECT_TRUE(found.hasKwinputs());
  const std::unordered_map<std::string, RecordedInput> values = found.kwinputs();
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values.at("alpha").real, 1.5);
  EXPECT_EQ(values.at("mode").text, "fast");
  EXPECT_EQ(values.at("count").integer, 3);
  EXPECT_FALSE(event(*result, "plain").hasKwinputs());
}

struct Counted {
  const char* what;
  const char* name;
  std::vector<InputValue> inputs;
  uint64_t flops;
};

TEST(Flops, AreThoseOfTheFormula) {
  const Shape m23{2, 3};
  const Shape m35{3, 5};
  const Shape m25{2, 5};
  const Shape b423{4, 2, 3};
  const Shape b435{4, 3, 5};
  const Shape b425{4, 2, 5};
  const Shape image{1, 3, 8, 10};
  const Shape filter{6, 3, 3, 3};
  const Shape grouped_image{2, 4, 5, 5};
  const Shape grouped_filter{8, 2, 1, 1};
  const Shape cube{2, 3, 4};
  const Shape empty{0, 7};
  const Shape huge{int64_t{1} << 31, int64_t{1} << 31};
  const std::vector<InputValue> two{2, 2};
  const std::vector<InputValue> one{1, 1};
  const std::vector<InputValue> one_two{1, 2};
  const std::vector<InputValue> none{0, 0};
  const Counted cases[] = {
      {"mm: 2·2·3·5", "aten::mm", {tensor(m23), tensor(m35)}, 60},
      {"the name without its prefix", "mm", {tensor(m23), tensor(m35)}, 60},
      {"addmm: its first input is added", "aten::addmm", {tensor(m25), tensor(m23), tensor(m35)}, 60},
      {"bmm: 4 of them", "aten::bmm", {tensor(b423), tensor(b435)}, 240},
      {"baddbmm", "aten::baddbmm", {tensor(b425), tensor(b423), tensor(b435)}, 240},
      // out = 6 × 8: 2·1·(6·8)·(3·3)·3·6
      {"conv2d", "aten::conv2d", {tensor(image), tensor(filter), nullptr, InputList(one), InputList(none), InputList(one), 1}, 15552},
      // out = (8+2-3)/2+1 = 4, (10+2-3)/2+1 = 5: 2·1·(4·5)·9·3·6
      {"conv2d with stride and padding",
       "aten::conv2d",
       {tensor(image), tensor(filter), nullptr, InputList(two), InputList(one), InputList(one), 1},
       6480},
      // out = 8 × 10: 2·1·80·9·3·6
      {"conv2d with padding", "aten::conv2d", {tensor(image), tensor(filter), nullptr, 1, 1, 1, 1}, 25920},
      // reach 3 and 5: out = 6 × 6: 2·1·36·9·3·6
      {"conv2d with dilation",
       "aten::conv2d",
       {tensor(image), tensor(filter), nullptr, InputList(one), InputList(none), InputList(one_two), 1},
       11664},
      // 2·2·25·1·4·8/2
      {"conv2d in groups", "aten::conv2d", {tensor(grouped_image), tensor(grouped_filter), nullptr, 1, 0, 1, 2}, 1600},
      {"conv2d without its arguments", "aten::conv2d", {tensor(image), tensor(filter)}, 0},
      {"conv2d with stride 0", "aten::conv2d", {tensor(image), tensor(filter), nullptr, 0, 0, 1, 1}, 0},
      {"add: one per element", "aten::add", {tensor(cube), tensor(cube), 1}, 24},
      {"mul", "aten::mul", {tensor(cube), 2.0}, 24},
      {"of nothing", "aten::add", {tensor(empty), tensor(empty)}, 0},
      {"mm of what is no matrix", "aten::mm", {tensor(cube), tensor(m35)}, 0},
      {"mm without tensors", "aten::mm", {1, 2}, 0},
      {"mm of what does not fit", "aten::mm", {tensor(m23), tensor(m25)}, 0},
      {"bmm of other batches", "aten::bmm", {tensor(b423), tensor(cube)}, 0},
      {"more than can be said", "aten::mm", {tensor(huge), tensor(huge)}, UINT64_MAX},
      {"add without tensors", "aten::add", {1, 2}, 0},
      {"no formula", "aten::relu", {tensor(cube)}, 0},
  };
  for (const Counted& each : cases) {
    EXPECT_EQ(called(each.name, each.inputs, withFlops()).flops(), each.flops) << each.what;
    EXPECT_EQ(called(each.name, each.inputs, withShapes()).flops(), 0u) << each.what << ", not asked for";
  }
}

TEST(Flops, NeedShapesAndTurnThemOn) {
  const Shape a{2, 2};
  enableProfiler(withFlops(), kCpu);
  EXPECT_TRUE(getProfilerConfig().report_input_shapes);
  disableProfiler();
  EXPECT_EQ(called("mm", std::vector<InputValue>{tensor(a), tensor(a)}, withFlops()).shapes(), (std::vector<Shape>{a, a}));
}

}  // namespace
}  // namespace xsigma::profiler
