// The scope macros: what a capture says about a scope, and where they may stand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../recorded.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

using recorded::record;

using Names = std::vector<std::string>;

void namedByItself() { XSIGMA_PROFILE_FUNCTION(); }

template <typename T>
T twice(T value) {
  XSIGMA_PROFILE_FUNCTION();
  XSIGMA_PROFILE_SCOPE("in a template");
  return value + value;
}

int factorial(int n) {
  XSIGMA_PROFILE_FUNCTION();
  return n < 2 ? 1 : n * factorial(n - 1);
}

struct Widget {
  Widget() { XSIGMA_PROFILE_FUNCTION(); }
  void draw() const { XSIGMA_PROFILE_FUNCTION(); }
};

TEST(Scope, IsRecordedWithItsNamePlaceAndKind) {
  const uint32_t line = __LINE__ + 1;
  const Capture capture = record([] { XSIGMA_PROFILE_SCOPE("load"); });
  const std::vector<recorded::Scope> scopes = recorded::scopes(capture);
  ASSERT_EQ(scopes.size(), 1u);
  EXPECT_EQ(scopes[0].name, "load");
  EXPECT_EQ(scopes[0].scope, RecordScope::USER_SCOPE);
  EXPECT_EQ(scopes[0].file, __FILE__);
  EXPECT_EQ(scopes[0].line, line);
  EXPECT_LT(scopes[0].begin, scopes[0].end);
}

TEST(Scope, LastsAsLongAsItsBlock) {
  const Capture capture = record([] {
    { XSIGMA_PROFILE_SCOPE("first"); }
    XSIGMA_PROFILE_SCOPE("second");
  });
  const recorded::Scope first = recorded::scope(capture, "first");
  const recorded::Scope second = recorded::scope(capture, "second");
  EXPECT_LE(first.end, second.begin);
  EXPECT_EQ(second.depth, 0u);
}

TEST(Scope, OfAFunctionCarriesTheFunctionsName) {
  const Capture capture = record([] {
    namedByItself();
    Widget().draw();
  });
  EXPECT_EQ(recorded::names(capture), (Names{"namedByItself", "Widget", "draw"}));
  EXPECT_EQ(recorded::scope(capture, "namedByItself").scope, RecordScope::FUNCTION);
  EXPECT_EQ(recorded::scope(capture, "namedByItself").file, __FILE__);
}

TEST(Scope, OfABlockIsAUserScope) {
  const Capture capture = record([] { XSIGMA_PROFILE_BLOCK("block"); });
  EXPECT_EQ(recorded::scope(capture, "block").scope, RecordScope::USER_SCOPE);
}

TEST(Scope, WithADynamicNameIsAUserScopeWithoutAPlace) {
  const std::string name = "step " + std::to_string(7);
  const Capture capture = record([&] { XSIGMA_PROFILE_SCOPE_DYNAMIC(name); });
  const recorded::Scope scope = recorded::scope(capture, "step 7");
  EXPECT_EQ(scope.scope, RecordScope::USER_SCOPE);
  EXPECT_EQ(scope.file, "");
  EXPECT_EQ(scope.line, 0u);
}

TEST(Scope, NestsInTheOrderOfTheSource) {
  const Capture capture = record([] {
    XSIGMA_PROFILE_SCOPE("outer");
    {
      XSIGMA_PROFILE_SCOPE("left");
      XSIGMA_PROFILE_SCOPE("leaf");
    }
    XSIGMA_PROFILE_SCOPE("right");
  });
  const std::vector<recorded::Scope> scopes = recorded::scopes(capture);
  ASSERT_EQ(recorded::names(capture), (Names{"outer", "left", "leaf", "right"}));
  EXPECT_EQ(scopes[0].depth, 0u);
  EXPECT_EQ(scopes[1].depth, 1u);
  EXPECT_EQ(scopes[2].depth, 2u);
  EXPECT_EQ(scopes[3].depth, 1u);
  EXPECT_LE(scopes[2].end, scopes[1].end);
  EXPECT_LE(scopes[3].end, scopes[0].end);
}

TEST(Scope, MayShareALineWithOthers) {
  const uint32_t line = __LINE__ + 3;
  const Capture capture = record([] {
    // clang-format off
    XSIGMA_PROFILE_SCOPE("a"); XSIGMA_PROFILE_SCOPE("b"); XSIGMA_PROFILE_SCOPE_DYNAMIC("c"); XSIGMA_PROFILE_BLOCK("d");
    // clang-format on
  });
  ASSERT_EQ(recorded::names(capture), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(recorded::scope(capture, "a").line, line);
  EXPECT_EQ(recorded::scope(capture, "b").line, line);
  EXPECT_EQ(recorded::scope(capture, "d").depth, 3u);
}

TEST(Scope, LeavesTheNameGuardToTheUser) {
  int guard = 1;
  const Capture capture = record([&] {
    XSIGMA_PROFILE_SCOPE("a");
    ++guard;
    XSIGMA_PROFILE_FUNCTION();
    ++guard;
  });
  EXPECT_EQ(guard, 3);
  EXPECT_EQ(recorded::scopes(capture).size(), 2u);
}

TEST(Scope, WorksInTemplates) {
  const Capture capture = record([] {
    EXPECT_EQ(twice(2), 4);
    EXPECT_EQ(twice(1.5), 3.0);
  });
  EXPECT_EQ(recorded::names(capture), (Names{"twice", "in a template", "twice", "in a template"}));
  EXPECT_EQ(recorded::scopes(capture)[0].line, recorded::scopes(capture)[2].line);
}

TEST(Scope, WorksInLambdas) {
  const Capture capture = record([] {
    const auto inner = [](int n) {
      XSIGMA_PROFILE_SCOPE("in a lambda");
      XSIGMA_PROFILE_FUNCTION();
      return n;
    };
    EXPECT_EQ(inner(3), 3);
  });
  EXPECT_EQ(recorded::names(capture), (Names{"in a lambda", "operator()"}));
}

TEST(Scope, CountsEveryLevelOfARecursion) {
  const Capture capture = record([] { EXPECT_EQ(factorial(10), 3628800); });
  const std::vector<recorded::Scope> scopes = recorded::scopes(capture);
  ASSERT_EQ(scopes.size(), 10u);
  for (size_t i = 0; i < scopes.size(); ++i) {
    EXPECT_EQ(scopes[i].name, "factorial");
    EXPECT_EQ(scopes[i].depth, i);
    EXPECT_NE(scopes[i].end, 0u);
  }
}

TEST(Scope, EndsWhenAnExceptionLeavesIt) {
  const Capture capture = record([] {
    try {
      XSIGMA_PROFILE_SCOPE("thrown through");
      throw 1;
    } catch (int) {
    }
    XSIGMA_PROFILE_SCOPE("after");
  });
  EXPECT_NE(recorded::scope(capture, "thrown through").end, 0u);
  EXPECT_EQ(recorded::scope(capture, "after").depth, 0u);
}

TEST(Scope, IsNotRecordedWhileNothingListens) {
  XSIGMA_PROFILE_SCOPE("before");
  const Capture capture = record([] { XSIGMA_PROFILE_SCOPE("during"); });
  XSIGMA_PROFILE_SCOPE("after");
  EXPECT_EQ(recorded::names(capture), Names{"during"});
  EXPECT_EQ(capture.ledger().attempted, 1u);
}

}  // namespace
}  // namespace xsigma::profiler
