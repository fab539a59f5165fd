// JSON texts: what goes in comes out of any strict parser, whatever it is.
#include "base/json_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace xsigma::profiler::base {
namespace {

std::string inQuotes(std::string_view text) {
  std::string out;
  appendQuoted(out, text);
  return out;
}

std::string real(double value) {
  std::string out;
  appendReal(out, value);
  return out;
}

std::string number(uint64_t value) {
  std::string out;
  appendUnsigned(out, value);
  return out;
}

TEST(JsonText, LeavesPlainTextAlone) {
  EXPECT_EQ(inQuotes("at::add /path [x]"), R"("at::add /path [x]")");
  EXPECT_EQ(inQuotes(""), R"("")");
}

TEST(JsonText, EscapesQuotesBackslashesAndEveryControlCharacter) {
  EXPECT_EQ(inQuotes("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(inQuotes("\n\r\t"), R"("\n\r\t")");
  for (int c = 0; c < 0x20; ++c) {
    const std::string text = inQuotes(std::string(1, static_cast<char>(c)));
    EXPECT_EQ(text[1], '\\') << "control character " << c << " is written as it is";
    EXPECT_TRUE(isJson(text)) << text;
  }
  EXPECT_EQ(inQuotes(std::string("\0x\x1f", 3)), R"("\u0000x\u001f")");
  EXPECT_EQ(inQuotes("\x7f"), R"("\u007f")");
}

TEST(JsonText, KeepsUtf8OfEveryLength) {
  for (const char* const text : {"größe", "日本語", "🚀", "\u007fa", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                                 "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    if (text[0] == 0x7f) continue;
    EXPECT_EQ(inQuotes(text), '"' + std::string(text) + '"');
  }
}

TEST(JsonText, ReplacesEveryByteThatIsNoUtf8AndLosesNothingAroundIt) {
  const std::string mark = "\xEF\xBF\xBD";
  const struct {
    const char* what;
    std::string text;
    int marks;
  } cases[] = {
      {"a lone continuation", "\x80", 1},
      {"a lone lead", "\xC3", 1},
      {"a lead before plain text", "\xC3(", 1},
      {"overlong, two bytes", "\xC0\xAF", 2},
      {"overlong, three bytes", "\xE0\x80\xAF", 3},
      {"overlong, four bytes", "\xF0\x80\x80\xAF", 4},
      {"a surrogate", "\xED\xA0\x80", 3},
      {"above U+10FFFF", "\xF4\x90\x80\x80", 4},
      {"no lead at all", "\xFF\xFE", 2},
      {"a character cut short", "\xF0\x9F\x9A", 3},
  };
  for (const auto& each : cases) {
    std::string marks;
    for (int i = 0; i < each.marks; ++i) marks += mark;
    const std::string rest = each.text.back() == '(' ? "(" : "";
    EXPECT_EQ(inQuotes("a" + each.text + "b"), "\"a" + marks + rest + "b\"") << each.what;
  }
}

TEST(JsonText, NumbersThatJsonDoesNotHaveBecomeTexts) {
  EXPECT_EQ(real(std::numeric_limits<double>::quiet_NaN()), R"("NaN")");
  EXPECT_EQ(real(std::numeric_limits<double>::infinity()), R"("Infinity")");
  EXPECT_EQ(real(-std::numeric_limits<double>::infinity()), R"("-Infinity")");
}

TEST(JsonText, RealNumbersComeBackAsTheyWere) {
  for (const double value : {0.0, -0.0, 1.0, -2.5, 0.1, 1e-300, 5e-324, 1.7976931348623157e308, 9007199254740991.0, 9007199254740992.0,
                             -9007199254740994.0, 1.8446744073709552e19, 1e22}) {
    const std::string text = real(value);
    EXPECT_TRUE(isJson(text)) << text;
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
  }
}

TEST(JsonText, LargeRealNumbersDoNotLookLikeIntegers) {
  for (const double value : {9007199254740992.0, 1.8446744073709552e19, -1e300}) {
    EXPECT_NE(real(value).find('e'), std::string::npos) << real(value);
  }
  EXPECT_EQ(real(9007199254740991.0).find('e'), std::string::npos);
}

TEST(JsonText, UnsignedNumbersBeyondInt64BecomeTexts) {
  EXPECT_EQ(number(0), "0");
  EXPECT_EQ(number(static_cast<uint64_t>(INT64_MAX)), "9223372036854775807");
  EXPECT_EQ(number(static_cast<uint64_t>(INT64_MAX) + 1), R"("9223372036854775808")");
  EXPECT_EQ(number(UINT64_MAX), R"("18446744073709551615")");
}

TEST(JsonText, AcceptsJson) {
  for (const char* const text :
       {"null", "true", "false", "0", "-0", "10", "-1.5", "1e5", "1E-5", "1.25e+10", "\"\"", R"("\"\\\/\b\f\n\r\t\u00e9")", "[]", "{}",
        " [ 1 , 2 ] ", R"({"a": {"b": [1, {"c": null}]}})", "\t\r\n[]\n", "\"größe 🚀\"", R"({"": ""})"}) {
    EXPECT_TRUE(isJson(text)) << text;
  }
}

TEST(JsonText, RefusesWhatIsNotJson) {
  for (const char* const text : {"",
                                 " ",
                                 "nul",
                                 "True",
                                 "NaN",
                                 "Infinity",
                                 "01",
                                 "-",
                                 "1.",
                                 ".5",
                                 "+1",
                                 "1e",
                                 "1e+",
                                 "0x1",
                                 "\"",
                                 "\"a",
                                 "'a'",
                                 "[1,]",
                                 "[,1]",
                                 "[1 2]",
                                 "[",
                                 "]",
                                 "{",
                                 "{\"a\"}",
                                 "{\"a\":}",
                                 "{a: 1}",
                                 "{\"a\": 1,}",
                                 "{1: 2}",
                                 "1 2",
                                 "[] []",
                                 "\"\t\"",
                                 "\"\\x\"",
                                 "\"\\u12g4\"",
                                 "\"\\u123",
                                 "\"\\",
                                 "// no\n1",
                                 "\"\x80\"",
                                 "\"\xC3\"",
                                 "nullnull",
                                 "[1]x",
                                 "\"\n\"",
                                 "{\"a\" 1}",
                                 "{\"a\": 1 \"b\": 2}"}) {
    EXPECT_FALSE(isJson(text)) << text;
  }
  EXPECT_FALSE(isJson(std::string_view("1\0", 2)));
  EXPECT_FALSE(isJson(std::string_view("\0", 1)));
}

TEST(JsonText, RefusesNestingThatWouldEndInTheStack) {
  EXPECT_TRUE(isJson(std::string(200, '[') + std::string(200, ']')));
  EXPECT_FALSE(isJson(std::string(1'000'000, '[')));
  EXPECT_FALSE(isJson(std::string(1000, '[') + std::string(1000, ']')));
}

TEST(JsonText, RefusesAKeyThatStandsTwice) {
  EXPECT_FALSE(isJson(R"({"a": 1, "a": 2})"));
  EXPECT_FALSE(isJson(R"([{"x": {"a": 1, "b": 3, "a": 1}}])"));
  EXPECT_TRUE(isJson(R"({"a": {"a": 1}, "b": {"a": 1}, "A": 2})"));
}

TEST(JsonText, MembersAreTheInsideOfAnObject) {
  EXPECT_TRUE(isJsonMembers(""));
  EXPECT_TRUE(isJsonMembers(R"("a": 1, "b": [2])"));
  for (const char* const text : {R"("a")", R"("a": 1,)", R"(} , {)", R"("a": 1} , {"b": 2)", "1"})
    EXPECT_FALSE(isJsonMembers(text)) << text;
}

TEST(JsonText, TextsOfAnArrayComeBack) {
  const std::vector<std::string> texts = {"cycles", "with \"quotes\", and a \\", "", "line\nand \x01", "größe"};
  std::string array = "[";
  for (const std::string& text : texts) array += (array.size() > 1 ? ", " : "") + inQuotes(text);
  EXPECT_EQ(jsonTexts(array + "]"), texts);
}

TEST(JsonText, FindsAMemberByItsKey) {
  const std::string members = R"("name": "a \"b\"", "other": "x")";
  EXPECT_EQ(memberText(members, "name"), "a \"b\"");
  EXPECT_EQ(memberText(members, "other"), "x");
  EXPECT_EQ(memberText(members, "missing"), "");
}

}  // namespace
}  // namespace xsigma::profiler::base
