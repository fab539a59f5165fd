// XSIGMA_RECORD_* and the bare RECORD_* names: each opens the range that its name promises.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "xsigma/profiler/profiler.h"
#include "xsigma/profiler/record_macros.h"

namespace xsigma::profiler {
namespace {

// One range in words: scope:name(inputs; keywords)#sequence@debug handle, and -> outputs at its end.
std::vector<std::string> seen;

std::string text(InputList values) {
  std::string all;
  for (const InputValue& value : values) all += (all.empty() ? "" : ",") + std::to_string(value.integer());
  return all;
}

void watch(bool inputs, bool outputs) {
  seen.clear();
  addGlobalCallback(RecordFunctionCallback(
                        [](const RecordFunction& function) -> std::unique_ptr<ObserverContext> {
                          std::string keywords;
                          for (const KeywordValue& each : function.kwinputs())
                            keywords += std::string(each.key) + "=" + std::to_string(each.value.integer());
                          seen.push_back(std::to_string(static_cast<int>(function.scope())) + ":" + function.name() + "(" +
                                         text(function.inputs()) + ";" + keywords + ")#" + std::to_string(function.seqNr()) + "@" +
                                         std::to_string(function.debugHandle()));
                          return nullptr;
                        },
                        [](const RecordFunction& function, ObserverContext*) {
                          if (function.num_outputs() != 0) seen.push_back(std::string(function.name()) + "->" + text(function.outputs()));
                        })
                        .needsInputs(inputs)
                        .needsOutputs(outputs));
}

class RecordMacros : public testing::Test {
 protected:
  void TearDown() override { clearCallbacks(); }
};

using Log = std::vector<std::string>;

TEST_F(RecordMacros, OpenRangesOfTheirKindWithInputsAndNumbers) {
  watch(true, true);
  const std::vector<InputValue> inputs = {1, 2};
  const KeywordList keywords = {{"k", 5}};
  XSIGMA_RECORD_FUNCTION("function", inputs);
  XSIGMA_RECORD_FUNCTION("numbered", inputs, 7);
  XSIGMA_RECORD_FUNCTION("keyed", inputs, keywords);
  XSIGMA_RECORD_FUNCTION("both", inputs, keywords, 8);
  XSIGMA_RECORD_FUNCTION("listed", {3, 4, 5});
  XSIGMA_RECORD_FUNCTION_WITH_SCOPE(RecordScope::BACKWARD_FUNCTION, "backward", inputs, 9);
  XSIGMA_RECORD_TORCHSCRIPT_FUNCTION("script", inputs);
  XSIGMA_RECORD_USER_SCOPE("user");
  XSIGMA_RECORD_USER_SCOPE_WITH_INPUTS("user with", inputs);
  XSIGMA_RECORD_USER_SCOPE_WITH_KWARGS_ONLY("user keyed", keywords);
  XSIGMA_RECORD_WITH_SCOPE_DEBUG_HANDLE_AND_INPUTS(RecordScope::CUSTOM_CLASS, "debug", 11, inputs);
  XSIGMA_RECORD_EDGE_SCOPE_WITH_DEBUG_HANDLE_AND_INPUTS("edge", 12, inputs);
  EXPECT_EQ(seen, (Log{"0:function(1,2;)#-1@-1", "0:numbered(1,2;)#7@-1", "0:keyed(1,2;k=5)#-1@-1", "0:both(1,2;k=5)#8@-1",
                       "0:listed(3,4,5;)#-1@-1", "1:backward(1,2;)#9@-1", "2:script(1,2;)#-1@-1", "7:user(;)#-1@-1",
                       "7:user with(1,2;)#-1@-1", "7:user keyed(;k=5)#-1@-1", "4:debug(1,2;)#-1@11", "6:edge(1,2;)#-1@12"}));
}

TEST_F(RecordMacros, PassNoInputsToThoseWhoDoNotNeedThem) {
  watch(false, false);
  XSIGMA_RECORD_FUNCTION("function", {1, 2}, 7);
  XSIGMA_RECORD_USER_SCOPE_WITH_INPUTS("user with", {1});
  XSIGMA_RECORD_EDGE_SCOPE_WITH_DEBUG_HANDLE_AND_INPUTS("edge", 12, {1});
  EXPECT_EQ(seen, (Log{"0:function(;)#7@-1", "7:user with(;)#-1@-1", "6:edge(;)#-1@12"}));
}

TEST_F(RecordMacros, DoNotEvaluateTheirArgumentsWhileNobodyListens) {
  int evaluated = 0;
  const auto name = [&] {
    ++evaluated;
    return "computed";
  };
  {
    XSIGMA_RECORD_FUNCTION(name(), {++evaluated});
    XSIGMA_RECORD_USER_SCOPE(name());
  }
  EXPECT_EQ(evaluated, 0);
}

TEST_F(RecordMacros, WithOutputsHandThemToTheEnd) {
  watch(true, true);
  {
    XSIGMA_RECORD_FUNCTION_WITH_INPUTS_OUTPUTS("in out", {1}, {2, 3});
    XSIGMA_RECORD_FUNCTION_WITH_SCOPE_INPUTS_OUTPUTS(RecordScope::STATIC_RUNTIME_OP, "scoped in out", {4}, {5}, 6);
  }
  EXPECT_EQ(seen, (Log{"0:in out(1;)#-1@-1", "8:scoped in out(4;)#6@-1", "scoped in out->5", "in out->2,3"}));
}

TEST_F(RecordMacros, OutputsBelongToTheInnermostRange) {
  watch(false, true);
  const std::vector<InputValue> result = {9};
  {
    XSIGMA_RECORD_FUNCTION("outer", {});
    {
      XSIGMA_RECORD_FUNCTION("inner", {});
      XSIGMA_RECORD_OUTPUTS(result);
    }
    XSIGMA_RECORD_OUTPUTS({10});
  }
  XSIGMA_RECORD_OUTPUTS(result);
  EXPECT_EQ(seen, (Log{"0:outer(;)#-1@-1", "0:inner(;)#-1@-1", "inner->9", "outer->10"}));
}

TEST_F(RecordMacros, OutputsThatNobodyNeedsAreNotKept) {
  watch(true, false);
  {
    XSIGMA_RECORD_FUNCTION("f", {});
    XSIGMA_RECORD_OUTPUTS({10});
    XSIGMA_RECORD_FUNCTION_WITH_INPUTS_OUTPUTS("g", {1}, {2});
  }
  EXPECT_EQ(seen, (Log{"0:f(;)#-1@-1", "0:g(1;)#-1@-1"}));
}

TEST_F(RecordMacros, MayStandTwiceInABlockBesideAVariableCalledGuard) {
  watch(false, false);
  int guard = 5;
  // clang-format off
  XSIGMA_RECORD_FUNCTION("a", {}); XSIGMA_RECORD_FUNCTION("b", {});
  // clang-format on
  XSIGMA_RECORD_USER_SCOPE("c");
  ++guard;
  EXPECT_EQ(guard, 6);
  EXPECT_EQ(seen, (Log{"0:a(;)#-1@-1", "0:b(;)#-1@-1", "7:c(;)#-1@-1"}));
}

TEST_F(RecordMacros, UnderTheirBareNamesAreTheSame) {
  watch(true, true);
  const KeywordList keywords = {{"k", 5}};
  {
    RECORD_FUNCTION("function", {1}, 2);
    RECORD_OUTPUTS({3});
  }
  {
    RECORD_FUNCTION_WITH_SCOPE(RecordScope::BUILD_FEATURE, "scoped", {1});
    RECORD_FUNCTION_WITH_INPUTS_OUTPUTS("in out", {1}, {2});
    RECORD_FUNCTION_WITH_SCOPE_INPUTS_OUTPUTS(RecordScope::STATIC_RUNTIME_MODEL, "model", {1}, {3});
  }
  RECORD_TORCHSCRIPT_FUNCTION("script", {1});
  RECORD_USER_SCOPE("user");
  RECORD_USER_SCOPE_WITH_INPUTS("user with", {1});
  RECORD_USER_SCOPE_WITH_KWARGS_ONLY("user keyed", keywords);
  RECORD_WITH_SCOPE_DEBUG_HANDLE_AND_INPUTS(RecordScope::KERNEL_FUNCTION_DTYPE, "debug", 11, {1});
  RECORD_EDGE_SCOPE_WITH_DEBUG_HANDLE_AND_INPUTS("edge", 12, {1});
  EXPECT_EQ(seen, (Log{"0:function(1;)#2@-1", "function->3", "5:scoped(1;)#-1@-1", "0:in out(1;)#-1@-1", "9:model(1;)#-1@-1", "model->3",
                       "in out->2", "2:script(1;)#-1@-1", "7:user(;)#-1@-1", "7:user with(1;)#-1@-1", "7:user keyed(;k=5)#-1@-1",
                       "3:debug(1;)#-1@11", "6:edge(1;)#-1@12"}));
}

}  // namespace
}  // namespace xsigma::profiler
