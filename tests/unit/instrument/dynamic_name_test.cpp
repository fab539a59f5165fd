// XSIGMA_PROFILE_SCOPE_DYNAMIC: any text is a name, whatever happens to its buffer later.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../recorded.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

using recorded::record;

using Names = std::vector<std::string>;

void scopeCalled(std::string_view name) { XSIGMA_PROFILE_SCOPE_DYNAMIC(name); }

TEST(DynamicName, IsTakenAsItIsWhenTheScopeBegins) {
  std::string buffer = "aaaa";
  const char* const address = buffer.data();
  const Capture capture = record([&] {
    for (const char letter : {'a', 'b', 'a', 'c', 'b'}) {
      buffer.assign(4, letter);
      scopeCalled(buffer);
      scopeCalled(buffer);
    }
  });
  ASSERT_EQ(buffer.data(), address);
  EXPECT_EQ(recorded::names(capture), (Names{"aaaa", "aaaa", "bbbb", "bbbb", "aaaa", "aaaa", "cccc", "cccc", "bbbb", "bbbb"}));
}

TEST(DynamicName, MayDifferFromAnotherInOneByteAnywhere) {
  for (const size_t size : {1u, 7u, 8u, 15u, 16u, 24u, 25u, 64u, 200u}) {
    Names expected(1, std::string(size, 'o'));
    for (size_t i = 0; i < size; ++i) {
      expected.push_back(expected[0]);
      expected.back()[i] = 'x';
    }
    expected.insert(expected.end(), expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(size));
    const Capture capture = record([&] {
      for (const std::string& name : expected) scopeCalled(name);
    });
    EXPECT_EQ(recorded::names(capture), expected);
  }
}

TEST(DynamicName, IsAsLongAsTheViewSays) {
  const std::string text = "prefix and the rest";
  const Capture capture = record([&] {
    scopeCalled(std::string_view(text).substr(0, 6));
    scopeCalled(text);
    scopeCalled(std::string_view(text).substr(0, 6));
  });
  EXPECT_EQ(recorded::names(capture), (Names{"prefix", "prefix and the rest", "prefix"}));
}

TEST(DynamicName, MayChangeWhileItsScopeIsOpen) {
  std::string buffer = "begun";
  const Capture capture = record([&] {
    XSIGMA_PROFILE_SCOPE_DYNAMIC(buffer);
    buffer = "later";
  });
  const recorded::Scope scope = recorded::scope(capture, "begun");
  EXPECT_NE(scope.end, 0u);
}

TEST(DynamicName, MayBeEmpty) {
  const Capture capture = record([] {
    scopeCalled("");
    scopeCalled(std::string_view());
    scopeCalled(std::string_view());
  });
  EXPECT_EQ(recorded::names(capture), (Names{"", "", ""}));
}

TEST(DynamicName, MayHoldAnyBytes) {
  const Names odd = {std::string("nul\0inside", 10), std::string("\0", 1),   std::string("\0\0", 2),        "häßliche Größe → 日本語 🚀",
                     "tab\tnewline\nreturn\r",       "\x01\x02\x1b[31m\x7f", "not \xff\xfe utf-8 \xc3\x28", "quote\" backslash\\ {brace}"};
  const Capture capture = record([&] {
    for (const std::string& name : odd) scopeCalled(name);
    for (const std::string& name : odd) scopeCalled(name);
  });
  Names expected = odd;
  expected.insert(expected.end(), odd.begin(), odd.end());
  EXPECT_EQ(recorded::names(capture), expected);
}

TEST(DynamicName, IsKeptWholeUpTo64KiB) {
  std::string name(64 * 1024, 'x');
  for (size_t i = 0; i < name.size(); ++i) name[i] = static_cast<char>('a' + i % 26);
  const Capture capture = record([&] {
    scopeCalled(name);
    scopeCalled(name);
  });
  const Names names = recorded::names(capture);
  ASSERT_EQ(names.size(), 2u);
  EXPECT_TRUE(names[0] == name);
  EXPECT_TRUE(names[1] == name);
}

TEST(DynamicName, IsCutBeyond64KiB) {
  const std::string name(64 * 1024 + 5000, 'y');
  const Capture capture = record([&] {
    scopeCalled(name);
    scopeCalled(name);
  });
  const Names names = recorded::names(capture);
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0], std::string(64 * 1024, 'y'));
  EXPECT_EQ(names[1], names[0]);
}

TEST(DynamicName, StaysItselfAmong200InRotation) {
  Names expected;
  const Capture capture = record([&] {
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < 200; ++i) {
        const std::string name = "operator number " + std::to_string(i);
        scopeCalled(name);
        expected.push_back(name);
      }
    }
  });
  EXPECT_EQ(recorded::names(capture), expected);
  EXPECT_EQ(capture.ledger().recorded, 1000u);
}

TEST(DynamicName, IsReadableInALaterRecordingToo) {
  record([] { scopeCalled("known from before"); });
  const Capture second = record([] { scopeCalled("known from before"); });
  EXPECT_EQ(recorded::names(second), Names{"known from before"});
}

TEST(DynamicName, EqualToAStaticOneIsStillAScopeOfItsOwn) {
  const Capture capture = record([] {
    XSIGMA_PROFILE_SCOPE("twin");
    scopeCalled("twin");
  });
  const std::vector<recorded::Scope> scopes = recorded::scopes(capture);
  ASSERT_EQ(scopes.size(), 2u);
  EXPECT_EQ(scopes[0].file, __FILE__);
  EXPECT_EQ(scopes[1].file, "");
}

TEST(DynamicName, IsNotEvenComputedWhileNothingListens) {
  int evaluated = 0;
  const auto name = [&] {
    ++evaluated;
    return std::string("computed");
  };
  { XSIGMA_PROFILE_SCOPE_DYNAMIC(name()); }
  EXPECT_EQ(evaluated, 0);
  const Capture capture = record([&] { XSIGMA_PROFILE_SCOPE_DYNAMIC(name()); });
  EXPECT_EQ(evaluated, 1);
  EXPECT_EQ(recorded::names(capture), Names{"computed"});
}

}  // namespace
}  // namespace xsigma::profiler
